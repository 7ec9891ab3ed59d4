package tern.rpc.interop;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/**
 * One thing that a server is to do in a stream, after a while: send a message, or end the stream well or badly.
 *
 * @param delay counted from the answer before it, or from the request that made it
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
