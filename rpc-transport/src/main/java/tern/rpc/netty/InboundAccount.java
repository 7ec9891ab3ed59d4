package tern.rpc.netty;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The number of bytes that one connection holds of the {@link InboundBudget}, and whether its socket is read. The
 * account may start with the budget for unauthenticated callers. Confined to the event loop, except {@link #kept}.
 */
public final class InboundAccount {

    /** Smaller messages and parts are counted only if they are kept. A connection with fewer bytes is not paused. */
    private static final int SMALL_BYTES = 4 << 10;

    /** Controls the reading of the connection. */
    interface Reading {
        /** Stops or resumes reading. */
        void pause(boolean paused);

        /** Called when the message did not arrive completely in time. */
        void tooSlow(String how);
    }

    private volatile InboundBudget budget; // replaced under this lock until it is settled
    private volatile boolean settled; // whether the budget is final
    private final EventLoop loop;
    private final Duration longest;
    private final Reading reading;
    private final AtomicLong kept = new AtomicLong(); // written under this lock until it is settled
    private long incomplete;
    private boolean paused;
    private boolean waiting;
    private boolean closed;
    private @Nullable Future<?> finishing;

    /**
     * @param settled whether the budget is final
     * @param longest the time limit for completing a message after it got its turn
     */
    InboundAccount(InboundBudget budget, boolean settled, EventLoop loop, Duration longest, Reading reading) {
        this.budget = budget;
        this.settled = settled;
        this.loop = loop;
        this.longest = longest;
        this.reading = reading;
    }

    /** The number of bytes that count. */
    public static int counted(int bytes) {
        return bytes < SMALL_BYTES ? 0 : bytes;
    }

    /**
     * Adds complete messages, or removes messages that were decoded or dropped. Any thread may call this.
     *
     * @param bytes the number of counted bytes; negative for removed messages
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
     * Moves all held bytes to another budget, which is final. Called at most once, and not for an account created as
     * settled.
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
        waiting = false; // the wait for the earlier budget is over
        look();
    }

    /**
     * Changes the number of bytes of incomplete messages. Called after each read.
     *
     * @param bytes the counted bytes; may be negative
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

    /** Called when a message is complete, so the connection's turn is over. */
    public void messageComplete() {
        stopFinishing();
    }

    private void look() {
        boolean holds = incomplete + kept.get() >= SMALL_BYTES;
        boolean stop = !closed && budget.isUsedUp() && holds && !finishes();
        if (stop != paused) {
            paused = stop;
            reading.pause(stop);
        }
        if (stop && !waiting) {
            waiting = true;
            budget.await(this, incomplete > 0);
        }
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
        if (!closed && budget.isUsedUp()) {
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

    /** Checks the budget again. Any thread may call this. */
    void lookAgain() {
        try {
            loop.execute(() -> {
                waiting = false;
                look();
            });
        } catch (RejectedExecutionException e) {
            // the event loops have ended, and so has this connection
        }
    }

    /** Whether reading is paused. The peer is then not responsible for slow progress. */
    public boolean isPaused() {
        return paused;
    }

    /** Called when the connection is closed. Calls return the bytes of complete messages themselves. */
    void closed() {
        incomplete((int) -incomplete);
        closed = true;
        stopFinishing();
        look();
    }
}
