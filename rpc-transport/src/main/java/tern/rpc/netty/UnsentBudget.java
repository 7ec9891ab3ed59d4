package tern.rpc.netty;

import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A server's memory budget for answers that clients have not read: at most an eighth of the heap, or a quarter of the
 * heap while only one network (the connections from one address) has unread bytes. Thread-safe.
 *
 * <p>The following rules apply in addition to the limit for each stream. A stream is allowed to send more if its
 * network has few unread bytes, or if {@link FairBudget} permits the network to add bytes. Other streams are ended if
 * they send more while three quarters of the budget are used. If their connection has few unread bytes, they are ended
 * only when the whole budget is used.
 *
 * <p>Above {@link #manyBytes}, connections of clients that do not read are closed. Above {@link #mostBytes}, any
 * connection can be closed ({@link SlowReaders}).
 *
 * <p>The budget does not limit unary answers, so callers from one network can use up the budget. A network with few
 * unread bytes is therefore always allowed to add more. All such networks together hold at most half of the budget.
 * When connections must be closed, the network with the most unread bytes loses its connections first.
 *
 * <p>The bytes of a connection count until the connection has been closed, because they occupy memory until then.
 */
final class UnsentBudget {

    /**
     * The connections from one address may always add bytes while they together hold at most 1/{@value} of the budget,
     * even if other addresses hold the whole remaining budget.
     */
    private static final int SMALL_PART = 8;

    /**
     * With many addresses, a limit of 1/{@link #SMALL_PART} of the budget for each address would exceed the budget in
     * total. In this case, an address is limited to 1/{@value} of an equal share of the budget.
     */
    private static final int SMALL_PART_OF_EQUAL = 2;

    /** A connection that holds at most 1/{@value} of the budget may use the last quarter of the budget. */
    private static final int SMALL_CONNECTION_PART = 16;

    /** Any connection can be closed when unread answers occupy more than 1/{@value} of the heap. */
    private static final int HEAP_PART = 4;

    /** The limit above which any connection can be closed, as a multiple of the configured budget. */
    private static final int MOST = 4;

    private final int maxStreamBytes;
    private final FairBudget all;
    private final long mostBytes;
    private final long aloneBytes; // the budget while all unread bytes belong to one client address
    private final AtomicLong leaving = new AtomicLong();
    // an action that runs when many answers are unread; set before the server accepts its first connection
    private Runnable whenMany = () -> {};

    UnsentBudget(int maxStreamBytes, long maxBytes) {
        this(maxStreamBytes, maxBytes, Runtime.getRuntime().maxMemory());
    }

    /** @param heap the maximum size of the heap */
    UnsentBudget(int maxStreamBytes, long maxBytes, long heap) {
        this.maxStreamBytes = maxStreamBytes;
        this.mostBytes = Math.min(MOST * maxBytes, heap / HEAP_PART);
        this.aloneBytes = Math.min(maxBytes, mostBytes);
        this.all = new FairBudget(Math.min(maxBytes, mostBytes / 2));
    }

    /**
     * Returns the number of bytes above which any connection can be closed: four times {@code
     * rpc.limits.max-unsent-answers}, but at most a quarter of the maximum heap.
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
     * @param action an action that runs, on any thread, each time answers are queued while the total exceeds
     *     {@link #manyBytes}
     */
    void whenMany(Runnable action) {
        whenMany = action;
    }

    /**
     * Adds a connection from the given address, and returns the byte counter that all connections from this address
     * share.
     */
    FairBudget.Part join(InetAddress network) {
        return all.join(network);
    }

    /**
     * @param part the byte counter that all connections from the client's address share
     * @param bytes the number of queued bytes; negative for bytes that clients have read
     */
    void add(FairBudget.Part part, long bytes) {
        part.add(bytes);
        if (bytes > 0 && all.used() > manyBytes()) {
            whenMany.run();
        }
    }

    /** Returns the number of unread bytes, including bytes of connections that are being closed. */
    long used() {
        return all.used();
    }

    /** Returns the number of unread bytes of the connections that are not being closed. */
    long staying() {
        return all.used() - leaving.get();
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
     * Returns whether connections from this address with many unread bytes get no more answers. Two conditions must
     * hold: the unread answers of all connections exceed {@link #manyBytes}, and the connections from this address hold
     * more than a few bytes.
     */
    boolean isShortFor(FairBudget.Part part) {
        return all.used() > manyBytes() && !isSmall(part, 0);
    }

    /**
     * Returns whether no connection from this address gets any more answers. Two conditions must hold: the unread
     * answers of all connections exceed {@link #mostBytes}, and the connections from this address hold more than a few
     * bytes.
     */
    boolean isFullFor(FairBudget.Part part) {
        return all.used() > mostBytes && !isSmall(part, 0);
    }

    private boolean hasRoom(long ofConnection) {
        long max = all.holders() <= 1 ? aloneBytes : all.maxBytes();
        return all.used() <= (ofConnection <= max / SMALL_CONNECTION_PART ? max : max - max / 4);
    }

    private boolean isSmall(FairBudget.Part part, int message) {
        return part.bytes() + message
                <= all.maxBytes() / Math.max(SMALL_PART, SMALL_PART_OF_EQUAL * (long) all.holders());
    }

    /**
     * Returns the reason why a stream must not queue a message, as text for error messages; null if the stream may
     * queue the message.
     *
     * @param ofStream the number of queued bytes of the stream that the client has not read
     * @param message the size of the message, in bytes
     * @param ready whether the stream has so few unread bytes that it may queue a message of any size
     * @param ofConnection the number of queued bytes of the stream's connection that the client has not read
     * @param part the byte counter that all connections from the client's network share
     */
    @Nullable
    String refusal(long ofStream, int message, boolean ready, long ofConnection, FairBudget.Part part) {
        int added = ready ? 0 : message;
        if (ofStream + added > maxStreamBytes) {
            return ofStream + " bytes of the stream wait for its caller, and " + added + " more are beyond "
                    + maxStreamBytes + " (set by rpc.limits.max-unsent-per-stream)";
        }
        return hasRoom(ofConnection) || isSmall(part, message) || part.hasRoom(ofConnection + message)
                ? null
                : part.full(
                        "bytes wait for the callers of all streams (set by rpc.limits.max-unsent-answers, and at most an"
                                + " eighth of the heap)",
                        ofConnection);
    }
}
