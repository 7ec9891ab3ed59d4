package tern.rpc.netty;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What one connection holds of the {@link InboundBudget}, and whether it is read on. It may begin with a budget that it
 * shares with strangers. Event loop only, but for {@link #kept}.
 */
public final class InboundAccount {

    /** A message of less, or a part of one, is not worth counting, unless it stays; a connection with less is not paused. */
    private static final int SMALL_BYTES = 4 << 10;

    /** The connection as this class sees it. */
    interface Reading {
        /** Stops and resumes reading. */
        void pause(boolean paused);

        /** The message that was to be finished did not come in time. */
        void tooSlow(String how);
    }

    private volatile InboundBudget budget; // replaced under this, before it is settled
    private volatile boolean settled; // whether the budget is the last one
    private final EventLoop loop;
    private final Duration longest;
    private final Reading reading;
    private final AtomicLong kept = new AtomicLong(); // before it is settled written under this
    private long incomplete;
    private boolean paused;
    private boolean waiting;
    private boolean closed;
    private @Nullable Future<?> finishing;

    /**
     * @param settled whether it stays with this budget
     * @param longest time for a message to be finished once it is its turn
     */
    InboundAccount(InboundBudget budget, boolean settled, EventLoop loop, Duration longest, Reading reading) {
        this.budget = budget;
        this.settled = settled;
        this.loop = loop;
        this.longest = longest;
        this.reading = reading;
    }

    /** So many bytes as count. */
    public static int counted(int bytes) {
        return bytes < SMALL_BYTES ? 0 : bytes;
    }

    /**
     * Complete messages came, or somebody has read or dropped some. Any thread.
     *
     * @param bytes counted ones; negative for those that are gone
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

    /** From here on it counts to another budget, with all that it holds; at most once, and not if it was made settled. */
    void moveTo(InboundBudget other) {
        stopFinishing();
        synchronized (this) {
            long all = kept.get() + incomplete;
            other.add(all);
            budget.add(-all);
            budget = other;
            settled = true;
        }
        waiting = false; // for the budget before
        look();
    }

    /**
     * To be called after each read: the bytes held of messages that are not complete are more or fewer by so many.
     *
     * @param bytes counted ones
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

    /** A message is complete: its connection has had its turn. */
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
            reading.tooSlow(incomplete + " bytes of a message came, and the rest did not within " + longest.toMillis()
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

    /** Any thread. */
    void lookAgain() {
        try {
            loop.execute(() -> {
                waiting = false;
                look();
            });
        } catch (RejectedExecutionException e) {
            // the event loops have ended, and with them this connection
        }
    }

    /** Whether the connection is not read at present, so that its peer cannot be blamed for being slow. */
    public boolean isPaused() {
        return paused;
    }

    /** The connection is gone; complete messages are given back by their calls. */
    void closed() {
        incomplete((int) -incomplete);
        closed = true;
        stopFinishing();
        look();
    }
}
