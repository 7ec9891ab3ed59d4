package tern.rpc.netty;

import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * Counts the answer bytes of one connection that its client has not read, and adds them to the server's {@link
 * UnsentBudget}. Thread-safe.
 */
public final class UnreadBytes {

    /**
     * The largest report size that the server takes into account (see {@link #stepBytes}). The size is half of the
     * flow-control window of clients that use gRPC or Tern.
     */
    public static final int MAX_STEP_BYTES = 512 << 10;

    /**
     * If all unread answers together exceed {@link UnsentBudget#manyBytes}, connections with more than {@value} unread
     * bytes get no more answers and calls. Above {@link UnsentBudget#mostBytes}, this applies to connections with any
     * number of unread bytes.
     */
    static final long MANY = 1 << 20;

    /**
     * The base-2 logarithm of the unit in which queued bytes are counted (64 KiB). Most small answers do not reach
     * another 64 KiB, so they do not change the counters that all connections share.
     */
    private static final int QUEUE_STEP_BITS = 16;

    private static final String CLOSING = "its connection is being closed";

    private static final AtomicLongFieldUpdater<UnreadBytes> BYTES =
            AtomicLongFieldUpdater.newUpdater(UnreadBytes.class, "bytes");

    /**
     * The value of {@link #bytes} after the connection has been closed. The value is so far below zero that later
     * changes have no effect.
     */
    private static final long CLOSED = Long.MIN_VALUE / 2;

    private final UnsentBudget budget;
    private final FairBudget.Part part; // the unread bytes of all connections from the client's address
    private volatile long bytes; // the unread bytes of the connection; updated atomically by the field updater BYTES

    // the number of answer bytes that the client has read; written only by the event loop
    private volatile long taken;
    // the client's report size (see stepBytes()); only the event loop writes this field
    private volatile int stepBytes;
    private volatile boolean givenUp; // true while the connection is being closed because its client does not read

    /** @param network the address of the peer; for IPv6, its first 64 bits */
    UnreadBytes(UnsentBudget budget, InetAddress network) {
        this.budget = budget;
        this.part = budget.join(network);
    }

    /**
     * Returns how much the number of unread bytes changes when the size of the write queue changes. The result is 0 if
     * the size stays within the same step of 64 KiB.
     */
    static long countedChange(long before, long after) {
        return ((after >> QUEUE_STEP_BITS) - (before >> QUEUE_STEP_BITS)) << QUEUE_STEP_BITS;
    }

    /**
     * Adjusts the number of unread bytes. Any thread may call this method, but only the event loop passes negative
     * values.
     *
     * @param change the number of newly queued bytes, or a negative number for bytes that the client has read
     */
    public void add(long change) {
        if (BYTES.addAndGet(this, change) > CLOSED / 2) {
            budget.add(part, change);
            if (change < 0) {
                // only the event loop passes negative values, so it is the only writer of this field
                long before = taken;
                taken = before - change;
            }
        }
    }

    /** Returns the number of unread bytes; 0 if the connection is being closed because its client does not read. */
    long bytes() {
        return givenUp ? 0 : Math.max(0, bytes); // after the close, the field has a large negative value
    }

    /**
     * Called when the connection is being closed because its client does not read. Later answers are refused. The
     * unread bytes count until {@link #release}, because they still occupy memory.
     *
     * @return the number of unread bytes; 0 if this method has been called before
     */
    synchronized long giveUp() {
        if (givenUp) {
            return 0;
        }
        givenUp = true;
        return Math.max(0, bytes);
    }

    /** Returns the number of answer bytes that the client has read. */
    long taken() {
        return taken;
    }

    /**
     * Called when the client's report size (see {@link #stepBytes}) is known. Must run on the event loop.
     *
     * @param bytes the report size; a larger value is replaced with {@link #MAX_STEP_BYTES}
     */
    public void inSteps(int bytes) {
        stepBytes = Math.min(bytes, MAX_STEP_BYTES);
    }

    /** Returns the client's report size: the maximum growth of {@link #taken} in one step, in bytes; 0 if unknown. */
    public int stepBytes() {
        return stepBytes;
    }

    /**
     * Sets the number of unread bytes to zero and stops counting them, because the connection has been closed.
     */
    void release() {
        long counted = BYTES.getAndSet(this, CLOSED);
        if (counted > CLOSED / 2) {
            budget.add(part, -counted);
            part.leave();
        }
    }

    /**
     * Returns whether new calls should be refused. Three conditions must hold: unread answers occupy too much memory on
     * the server, more than a few of these bytes belong to the client's network (all connections from its address), and
     * more than 1 MiB belongs to this connection. If the answers occupy more than {@link UnsentBudget#mostBytes}, the
     * third condition does not apply.
     */
    public boolean areTooMany() {
        return (bytes > MANY && budget.isShortFor(part)) || budget.isFullFor(part);
    }

    /** Returns the reason why unary answers are not written, as text for error messages; null if they are written. */
    public @Nullable String refusal() {
        if (isClosing()) {
            return CLOSING;
        }
        boolean isFull = budget.isFullFor(part);
        if (!isFull && !areTooMany()) {
            return null;
        }
        return bytes + " bytes of answers wait for this connection, and " + budget.used() + " for all; above "
                + (isFull
                        ? budget.mostBytes() + " only addresses with few bytes get"
                        : budget.manyBytes() + " slow readers get no")
                + " more (derived from rpc.limits.max-unsent-answers, and at most a quarter of the heap)";
    }

    /**
     * Returns the reason why a stream must not queue a message, as text for error messages; null if the stream may
     * queue the message.
     *
     * @param ofStream the number of queued bytes of the stream that the client has not read
     * @param message the size of the message, in bytes
     * @param ready whether the stream has so few unread bytes that it may queue a message of any size
     */
    public @Nullable String refusal(long ofStream, int message, boolean ready) {
        return isClosing() ? CLOSING : budget.refusal(ofStream, message, ready, bytes, part);
    }

    private boolean isClosing() {
        return givenUp || bytes < CLOSED / 2;
    }
}
