package tern.rpc.netty;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A memory budget that the connections of a server share. The last quarter is reserved for connections with few bytes,
 * so connections with many bytes are refused first. Thread-safe.
 */
final class FairBudget {

    /** A connection that holds at most one in this number of the budget's bytes may use the last quarter. */
    private static final int SMALL_PART = 16;

    private final long maxBytes;
    private final AtomicLong used = new AtomicLong();

    FairBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * @param bytes the number of added bytes; negative for returned bytes
     */
    void add(long bytes) {
        used.addAndGet(bytes);
    }

    long used() {
        return used.get();
    }

    long maxBytes() {
        return maxBytes;
    }

    /** Whether a connection that holds this number of bytes may add more. */
    boolean hasRoom(long ofConnection) {
        long kept = ofConnection > maxBytes / SMALL_PART ? maxBytes / 4 : 0;
        return used.get() <= maxBytes - kept;
    }
}
