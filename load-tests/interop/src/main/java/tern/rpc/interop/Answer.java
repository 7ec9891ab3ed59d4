package tern.rpc.interop;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/**
 * One action of a server in a stream: sending a message, ending the stream, or failing.
 *
 * @param delay the time to wait before this action, starting when the action reaches the head of the queue
 */
record Answer<R>(@Nullable R message, @Nullable RpcException failure, Duration delay) {

    static <R> Answer<R> of(R message, Duration delay) {
        return new Answer<>(Objects.requireNonNull(message), null, delay);
    }

    static <R> Answer<R> failed(RpcException failure) {
        return new Answer<>(null, failure, Duration.ZERO);
    }

    static <R> Answer<R> end() {
        return new Answer<>(null, null, Duration.ZERO);
    }
}
