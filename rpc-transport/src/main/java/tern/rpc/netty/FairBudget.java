package tern.rpc.netty;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A memory budget shared by the connections of a server. The last quarter is reserved for connections that hold at most
 * a sixteenth of the budget, so connections with many bytes are refused first. Thread-safe.
 */
final class FairBudget {

    /** A connection may use the last quarter of the budget if it holds at most 1/{@value} of the budget. */
    private static final int SMALL_PART = 16;

    private final long maxBytes;
    private final AtomicLong used = new AtomicLong();

    FairBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** @param bytes the number of bytes to add; negative for released bytes */
    void add(long bytes) {
        used.addAndGet(bytes);
    }

    long used() {
        return used.get();
    }

    long maxBytes() {
        return maxBytes;
    }

    /** Returns whether a connection that holds the given number of bytes may add more. */
    boolean hasRoom(long ofConnection) {
        long kept = ofConnection > maxBytes / SMALL_PART ? maxBytes / 4 : 0;
        return used.get() <= maxBytes - kept;
    }
}
