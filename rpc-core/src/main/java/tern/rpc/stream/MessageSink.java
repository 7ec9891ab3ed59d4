package tern.rpc.stream;

import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.RpcException;

/** Sends the values of one side of a call. Thread-safe, except that only one thread at a time may send values. */
public interface MessageSink {

    /**
     * Encodes a value on the calling thread and queues it. The value is dropped if the call has ended.
     *
     * @throws RpcException if the value cannot be encoded
     */
    void send(@Nullable Object value);

    /** Sets whether later values are compressed if the protocol and the peer support it. */
    default void compress(boolean compressed) {}

    /** Returns whether another value can be sent without buffering too many bytes. */
    boolean isReady();

    /**
     * Returns the time that the calling thread may wait until {@link #isReady} returns true, in nanoseconds. After this
     * time, the thread sends the value anyway, and the number of buffered bytes is limited. {@link Long#MAX_VALUE}
     * means that the thread may wait until the end of the call.
     */
    default long mayWaitNanos() {
        return Long.MAX_VALUE;
    }

    /** Subtracts a wait from the calling thread's remaining waiting time, if this time is limited. */
    default void hasWaited(long nanos) {}

    /** Returns the reason why no more values can be sent, or null while the call is running. */
    @Nullable
    RpcException over();

    /** Ends the stream of values. Only the first call to this method or {@link #fail} has an effect. */
    void end();

    /** Ends the call because the application has ended its stream of values with a failure. */
    void fail(Throwable cause);

    /**
     * Ends the call because a value could not be sent, or because application code threw an exception. Unlike {@link
     * #fail}, this method is used if parts of the application may not know yet that the call has ended.
     */
    default void abort(Throwable cause) {
        fail(cause);
    }

    /** Returns the deadline of the call. */
    Deadline deadline();
}
