package tern.rpc.netty;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory that a server spends on answers by HTTP that clients have not taken. Streams add to it; when it is used up, a
 * stream that has more to send is ended. The last quarter is left to connections that hold little. Thread-safe.
 */
final class UnsentBudget {

    /** A connection that holds no more than this part of the budget may use the last quarter. */
    private static final int SMALL_PART = 16;

    private final int maxStreamBytes;
    private final long maxBytes;
    private final AtomicLong used = new AtomicLong();

    UnsentBudget(int maxStreamBytes, long maxBytes) {
        this.maxStreamBytes = maxStreamBytes;
        this.maxBytes = maxBytes;
    }

    /** @param bytes negative for what has left */
    void add(long bytes) {
        used.addAndGet(bytes);
    }

    long used() {
        return used.get();
    }

    /**
     * Why a stream may not add a message, for people; null if it may.
     *
     * @param ofStream bytes of the stream that wait already
     * @param message bytes of the message
     * @param ofConnection bytes of its connection that wait already
     */
    @Nullable
    String refusal(long ofStream, int message, long ofConnection) {
        if (ofStream + message > maxStreamBytes) {
            return ofStream + " bytes of the stream wait for its caller, and " + message + " more are beyond "
                    + maxStreamBytes + " (set by rpc.limits.max-unsent-per-stream)";
        }
        long all = used.get();
        if (all > maxBytes) {
            return all + " of " + maxBytes
                    + " bytes wait for the callers of all streams (set by rpc.limits.max-unsent-answers)";
        }
        if (all > maxBytes - maxBytes / 4 && ofConnection > maxBytes / SMALL_PART) {
            return all + " of " + maxBytes + " bytes wait for the callers of all streams, " + ofConnection
                    + " of them on this connection, and the rest is for others (set by rpc.limits.max-unsent-answers)";
        }
        return null;
    }
}
