package tern.rpc.stream;

import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.RpcException;

/** Sends the values of one side of a call. Thread-safe, but values must be sent one after another. */
public interface MessageSink {

    /**
     * Encodes and queues a value on the calling thread. The value is dropped if the call has ended.
     *
     * @throws RpcException if it cannot be encoded
     */
    void send(@Nullable Object value);

    /** Sets whether later values are compressed, if the protocol and the peer support it. */
    default void compress(boolean compressed) {}

    /** Whether another value may be sent now. */
    boolean isReady();

    /**
     * Nanoseconds that the calling thread may wait for the sink to become ready. After this wait it sends anyway, and
     * the sink limits the buffered bytes. {@link Long#MAX_VALUE} permits a wait until the end of the call.
     */
    default long mayWaitNanos() {
        return Long.MAX_VALUE;
    }

    /** Subtracts a wait of the calling thread, if its waits are limited. */
    default void hasWaited(long nanos) {}

    /** The reason why nothing can be sent any more; null while the call is running. */
    @Nullable
    RpcException over();

    /** Ends the values. Only the first call of this method or {@link #fail} has an effect. */
    void end();

    /** Ends the call because the sender failed. */
    void fail(Throwable cause);

    /** The deadline of the call. */
    Deadline deadline();
}
