package tern.rpc.netty;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory that the connections of a server share. The last quarter is left to connections that hold little, so whoever holds
 * much is refused first. Thread-safe.
 */
final class FairBudget {

    /** A connection that holds no more than this part of the budget may use the last quarter. */
    private static final int SMALL_PART = 16;

    private final long maxBytes;
    private final AtomicLong used = new AtomicLong();

    FairBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** @param bytes negative for what is given back */
    void add(long bytes) {
        used.addAndGet(bytes);
    }

    long used() {
        return used.get();
    }

    long maxBytes() {
        return maxBytes;
    }

    /** Whether a connection that holds as much may add something. */
    boolean hasRoom(long ofConnection) {
        long kept = ofConnection > maxBytes / SMALL_PART ? maxBytes / 4 : 0;
        return used.get() <= maxBytes - kept;
    }
}
