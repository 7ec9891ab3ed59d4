package tern.rpc.netty;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A server's memory budget for answers that clients have not read. If it is used up, a stream that sends more is ended.
 * Above twice the budget, connections of clients that do not read are closed, and above four times the budget, any
 * connection ({@link SlowReaders}). Thread-safe.
 */
final class UnsentBudget {

    private final int maxStreamBytes;
    private final FairBudget all;
    private final long mostBytes;
    private final AtomicLong leaving = new AtomicLong();
    // called when many answers are unread; set before the first connection is accepted
    private Runnable whenMany = () -> {};

    UnsentBudget(int maxStreamBytes, long maxBytes) {
        this.maxStreamBytes = maxStreamBytes;
        this.all = new FairBudget(maxBytes);
        this.mostBytes = Math.min(4 * maxBytes, Runtime.getRuntime().maxMemory() / 4);
    }

    /**
     * Returns the number of bytes above which any connection may be closed: four times the budget, but at most a
     * quarter of the maximum heap.
     */
    long mostBytes() {
        return mostBytes;
    }

    /**
     * Returns the number of bytes above which connections whose clients do not read are closed: half of
     * {@link #mostBytes}.
     */
    long manyBytes() {
        return mostBytes / 2;
    }

    /**
     * @param told an action that runs, on any thread, each time answers are queued while the total exceeds
     *     {@link #manyBytes}
     */
    void whenMany(Runnable told) {
        whenMany = told;
    }

    /** @param bytes the number of queued bytes; negative for bytes that clients have read */
    void add(long bytes) {
        all.add(bytes);
        if (bytes > 0 && all.used() > manyBytes()) {
            whenMany.run();
        }
    }

    long used() {
        return all.used();
    }

    /**
     * Adjusts the number of answer bytes that belong to closing connections and still occupy memory.
     *
     * @param bytes the number of bytes; positive when the close begins, negative when the memory is released
     */
    void leaving(long bytes) {
        leaving.addAndGet(bytes);
    }

    /**
     * Returns whether answers, including those of closing connections, occupy more than {@link #manyBytes}.
     * Slow readers then receive no more answers.
     */
    boolean isShort() {
        return all.used() + leaving.get() > manyBytes();
    }

    /**
     * Returns the reason why a stream must not queue a message, as text for error messages; null if it may.
     *
     * @param ofStream the number of queued bytes of the stream that the client has not read
     * @param message the size of the message, in bytes
     * @param ofConnection the number of queued bytes of the stream's connection that the client has not read
     */
    @Nullable
    String refusal(long ofStream, int message, long ofConnection) {
        if (ofStream + message > maxStreamBytes) {
            return ofStream + " bytes of the stream wait for its caller, and " + message + " more are beyond "
                    + maxStreamBytes + " (set by rpc.limits.max-unsent-per-stream)";
        }
        return all.hasRoom(ofConnection)
                ? null
                : all.used() + " of " + all.maxBytes() + " bytes wait for the callers of all streams, " + ofConnection
                        + " of them on this connection (set by rpc.limits.max-unsent-answers)";
    }
}
