package tern.rpc.netty;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A memory budget shared by the connections of a server. The last quarter is reserved for connections that hold little,
 * so connections that hold much are refused first. Thread-safe.
 */
final class FairBudget {

    /** A connection that holds no more than this part of the budget may use the last quarter. */
    private static final int SMALL_PART = 16;

    private final long maxBytes;
    private final AtomicLong used = new AtomicLong();

    FairBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** @param bytes negative for returned bytes */
    void add(long bytes) {
        used.addAndGet(bytes);
    }

    long used() {
        return used.get();
    }

    long maxBytes() {
        return maxBytes;
    }

    /** Whether a connection with this many bytes may add more. */
    boolean hasRoom(long ofConnection) {
        long kept = ofConnection > maxBytes / SMALL_PART ? maxBytes / 4 : 0;
        return used.get() <= maxBytes - kept;
    }
}
