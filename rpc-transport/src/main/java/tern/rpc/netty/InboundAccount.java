package tern.rpc.netty;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Counts the bytes that one connection holds in an {@link InboundBudget}, and decides whether its socket is read. The
 * account of a caller that is not authenticated yet starts with a smaller budget. Confined to the event loop, except
 * {@link #kept}.
 */
public final class InboundAccount {

    /**
     * Messages and parts of messages below this size are counted only after they have been held for some time. A
     * connection with fewer counted bytes is always read.
     */
    private static final int SMALL_BYTES = 4 << 10;

    /** Controls whether the socket of the connection is read. */
    interface Reading {
        /** Stops or resumes reading. */
        void pause(boolean paused);

        /** Called when a message has not arrived completely within the time limit. */
        void tooSlow(String how);
    }

    // the budget that counts these bytes; until settled is true, replaced only while holding the lock on this object
    private volatile InboundBudget budget;
    private volatile boolean settled; // true if the budget is final: it will not be replaced
    private final EventLoop loop;
    private final Duration longest;
    private final Reading reading;
    // the number of bytes of complete messages; until settled is true, changed only while holding the lock on this
    // object
    private final AtomicLong kept = new AtomicLong();
    private long incomplete;
    private boolean paused;
    private boolean waiting;
    private boolean closed;
    private @Nullable Future<?> finishing;

    /**
     * @param settled whether the budget is final
     * @param longest the time within which a message must be complete while this connection is allowed to exceed the
     *     budget
     */
    InboundAccount(InboundBudget budget, boolean settled, EventLoop loop, Duration longest, Reading reading) {
        this.budget = budget;
        this.settled = settled;
        this.loop = loop;
        this.longest = longest;
        this.reading = reading;
    }

    /** Returns the number of bytes to count for a message of the given size: 0 below 4 KiB. */
    public static int counted(int bytes) {
        return bytes < SMALL_BYTES ? 0 : bytes;
    }

    /**
     * Changes the number of bytes of complete messages. The number grows when messages arrive, and shrinks when they
     * are decoded or dropped. Any thread may call this.
     *
     * @param bytes the number of counted bytes; negative for decoded or dropped messages
     */
    public void kept(int bytes) {
        if (bytes == 0) {
            return;
        }
        if (settled) {
            count(bytes);
        } else {
            synchronized (this) {
                count(bytes);
            }
        }
    }

    private void count(int bytes) {
        kept.addAndGet(bytes);
        budget.add(bytes);
    }

    /**
     * Moves all held bytes to the given budget. This budget is final. Called at most once, and never if the account
     * was created with {@code settled} true.
     */
    void moveTo(InboundBudget other) {
        stopFinishing();
        synchronized (this) {
            long all = kept.get() + incomplete;
            other.add(all);
            budget.add(-all);
            budget = other;
            settled = true;
        }
        waiting = false; // the account may still be in the queue of the previous budget, but not in that of this budget
        look();
    }

    /**
     * Changes the number of bytes of incomplete messages. Called after each read.
     *
     * @param bytes the change in the number of counted bytes; may be negative
     */
    public void incomplete(int bytes) {
        if (closed) {
            return;
        }
        if (bytes != 0) {
            incomplete += bytes;
            budget.add(bytes);
        }
        if (incomplete == 0) {
            stopFinishing();
        }
        look();
    }

    /**
     * Called when a message is complete. If this connection was allowed to exceed the budget, it loses this permission.
     */
    public void messageComplete() {
        stopFinishing();
    }

    private void look() {
        long held = held();
        boolean stop = !closed && held >= SMALL_BYTES && budget.isUsedUp(held) && !finishes();
        if (stop != paused) {
            paused = stop;
            reading.pause(stop);
        }
        if (stop && !waiting) {
            waiting = true;
            budget.await(this, incomplete > 0);
        }
    }

    /** Returns the number of bytes that the connection holds. */
    long held() {
        return incomplete + kept.get();
    }

    private boolean finishes() {
        if (incomplete == 0 || !budget.mayFinish(this)) {
            return false;
        }
        if (finishing == null) {
            finishing = loop.schedule(this::tooSlow, longest.toNanos(), TimeUnit.NANOSECONDS);
        }
        return true;
    }

    private void tooSlow() {
        finishing = null;
        budget.finished(this);
        if (!closed && budget.isUsedUp(held())) {
            reading.tooSlow(incomplete + " bytes of a message arrived, but not the rest within " + longest.toMillis()
                    + " ms while " + budget.used() + " of " + budget.maxBytes()
                    + " bytes were held for requests" + budget.whose());
        }
    }

    private void stopFinishing() {
        Future<?> timer = finishing;
        if (timer != null) {
            finishing = null;
            timer.cancel(false);
            budget.finished(this);
        }
    }

    /** Schedules a check of whether the budget permits reading. Any thread may call this. */
    void lookAgain() {
        try {
            loop.execute(() -> {
                waiting = false;
                look();
            });
        } catch (RejectedExecutionException e) {
            // the event loops have terminated, so this connection is closed
        }
    }

    /** Returns whether reading is paused. During the pause, slow progress of a message is not the peer's fault. */
    public boolean isPaused() {
        return paused;
    }

    /** Called when the connection is closed. Bytes of complete messages are released by their calls. */
    void closed() {
        incomplete((int) -incomplete);
        closed = true;
        stopFinishing();
        look();
    }
}
