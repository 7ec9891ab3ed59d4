package tern.rpc.netty;

import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A server's memory budget for answers that clients have not read. If three quarters of it are used, a stream that sends
 * more is ended, unless its connection has few unread bytes. If all of it is used, a stream continues only if its
 * network has few unread bytes, or has room according to {@link FairBudget}. Above twice the budget, connections of
 * clients that do not read are closed, and above four times the budget, any connection ({@link SlowReaders}).
 * Thread-safe.
 *
 * <p>The budget does not limit unary answers, so the callers of one network may use it up. A network with few unread
 * bytes may therefore always add more. Above the higher limits, the network with the most bytes loses its connections
 * first.
 */
final class UnsentBudget {

    /**
     * A network that holds at most 1/{@value} of the budget may always add bytes, even if other networks hold the rest.
     */
    private static final int SMALL_PART = 8;

    /** A connection may use the last quarter of the budget if it holds at most 1/{@value} of the budget. */
    private static final int SMALL_CONNECTION_PART = 16;

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

    /** Counts a connection from the given network. Returns the record of the bytes that the network holds. */
    FairBudget.Part join(InetAddress network) {
        return all.join(network);
    }

    /**
     * @param part the record of the bytes that the client's network holds
     * @param bytes the number of queued bytes; negative for bytes that clients have read
     */
    void add(FairBudget.Part part, long bytes) {
        part.add(bytes);
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
     * Returns whether the slow readers of this network receive no more answers. This is the case if the answers of all
     * connections occupy more than {@link #manyBytes}, and this network holds more than an eighth of the budget.
     */
    boolean isShortFor(FairBudget.Part part) {
        return all.used() + leaving.get() > manyBytes() && !isSmall(part);
    }

    private boolean hasRoom(long ofConnection) {
        long max = all.maxBytes();
        return all.used() <= (ofConnection <= max / SMALL_CONNECTION_PART ? max : max - max / 4);
    }

    private boolean isSmall(FairBudget.Part part) {
        return part.bytes() <= all.maxBytes() / SMALL_PART;
    }

    /**
     * Returns the reason why a stream must not queue a message, as text for error messages; null if it may.
     *
     * @param ofStream the number of queued bytes of the stream that the client has not read
     * @param message the size of the message, in bytes
     * @param ofConnection the number of queued bytes of the stream's connection that the client has not read
     * @param part the record of the bytes that the client's network holds
     */
    @Nullable
    String refusal(long ofStream, int message, long ofConnection, FairBudget.Part part) {
        if (ofStream + message > maxStreamBytes) {
            return ofStream + " bytes of the stream wait for its caller, and " + message + " more are beyond "
                    + maxStreamBytes + " (set by rpc.limits.max-unsent-per-stream)";
        }
        return isSmall(part) || hasRoom(ofConnection) || part.hasRoom(ofConnection)
                ? null
                : part.full(
                        "bytes wait for the callers of all streams (set by rpc.limits.max-unsent-answers)",
                        ofConnection);
    }
}
