package tern.rpc.netty;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory that a server spends on answers that clients have not taken. When it is used up, a stream that has more to send
 * is ended. With twice and four times as much, connections are closed ({@link SlowReaders}). Thread-safe.
 */
final class UnsentBudget {

    private final int maxStreamBytes;
    private final FairBudget all;
    private final long mostBytes;
    private final AtomicLong leaving = new AtomicLong();
    private Runnable whenMany = () -> {}; // set before there are connections

    UnsentBudget(int maxStreamBytes, long maxBytes) {
        this.maxStreamBytes = maxStreamBytes;
        this.all = new FairBudget(maxBytes);
        this.mostBytes = Math.min(4 * maxBytes, Runtime.getRuntime().maxMemory() / 4);
    }

    /** Above this many bytes no connection is safe: four times the budget, a quarter of the heap at the most. */
    long mostBytes() {
        return mostBytes;
    }

    /** Above this many bytes connections that do not read are closed. */
    long manyBytes() {
        return mostBytes / 2;
    }

    /** @param told each time that answers are queued above {@link #manyBytes}; any thread */
    void whenMany(Runnable told) {
        whenMany = told;
    }

    /** @param bytes negative for what has left */
    void add(long bytes) {
        all.add(bytes);
        if (bytes > 0 && all.used() > manyBytes()) {
            whenMany.run();
        }
    }

    long used() {
        return all.used();
    }

    /** A connection is being closed whose answers are still in memory. @param bytes negative when they are no longer */
    void leaving(long bytes) {
        leaving.addAndGet(bytes);
    }

    /** Whether answers take so much memory that slow readers get no more, with those of connections that are being closed. */
    boolean isShort() {
        return all.used() + leaving.get() > manyBytes();
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
        return all.hasRoom(ofConnection)
                ? null
                : all.used() + " of " + all.maxBytes() + " bytes wait for the callers of all streams, " + ofConnection
                        + " of them on this connection (set by rpc.limits.max-unsent-answers)";
    }
}
