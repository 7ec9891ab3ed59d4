package tern.rpc.stream;

import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.RpcException;

/** Where one side of a call puts the values that it sends. Thread-safe, except that values come one after another. */
public interface MessageSink {

    /**
     * Encodes and queues a value, on the calling thread; drops it when the call is over.
     *
     * @throws RpcException if it cannot be written
     */
    void send(@Nullable Object value);

    /** Whether values from the next one on are compressed, where the protocol and the peer can. */
    default void compress(boolean compressed) {}

    /** Whether one more value should be sent now. */
    boolean isReady();

    /**
     * Nanoseconds that the calling thread may wait for the sink to become ready. Then it sends all the same, and the sink
     * says how much it keeps. {@link Long#MAX_VALUE} lets it wait until the call is over.
     */
    default long mayWaitNanos() {
        return Long.MAX_VALUE;
    }

    /** The calling thread, whose wait is limited, waited for the sink to become ready. */
    default void hasWaited(long nanos) {}

    /** Why nothing can be sent any more; null while the call goes on. */
    @Nullable
    RpcException over();

    /** The values have ended; what comes second of this and {@link #fail} does nothing. */
    void end();

    /** Whoever sends has failed, and with it the call. */
    void fail(Throwable cause);

    /** When nobody waits for the call any more. */
    Deadline deadline();
}
