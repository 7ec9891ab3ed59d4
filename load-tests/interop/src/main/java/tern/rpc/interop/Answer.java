package tern.rpc.interop;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/**
 * One action of a server in a stream: it sends a message, or ends the stream with or without a failure.
 *
 * @param delay the time to wait before this action; it begins when the action is first in the queue of answers
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
