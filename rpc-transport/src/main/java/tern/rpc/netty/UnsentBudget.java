package tern.rpc.netty;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory budget of a server for answers that clients have not taken. When it is used up, a stream with more to send
 * is ended. At twice and four times the budget, connections are closed ({@link SlowReaders}). Thread-safe.
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

    /**
     * Any connection may be closed above this number of bytes: four times the budget, but at most a quarter of the
     * heap.
     */
    long mostBytes() {
        return mostBytes;
    }

    /** Connections that do not read are closed above this number of bytes. */
    long manyBytes() {
        return mostBytes / 2;
    }

    /**
     * @param told runs on any thread each time answers are queued above {@link #manyBytes}
     */
    void whenMany(Runnable told) {
        whenMany = told;
    }

    /**
     * @param bytes the number of queued bytes; negative for sent bytes
     */
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
     * Counts the answers of a connection that is being closed, as long as they are in memory.
     *
     * @param bytes the number of bytes; negative when they are released
     */
    void leaving(long bytes) {
        leaving.addAndGet(bytes);
    }

    /**
     * Whether answers occupy so much memory that slow readers get no more. Includes answers of connections that are
     * being closed.
     */
    boolean isShort() {
        return all.used() + leaving.get() > manyBytes();
    }

    /**
     * The reason why a stream may not add a message, for messages; null if it may.
     *
     * @param ofStream the number of bytes of the stream that already wait
     * @param message the size of the message
     * @param ofConnection the number of bytes of its connection that already wait
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
