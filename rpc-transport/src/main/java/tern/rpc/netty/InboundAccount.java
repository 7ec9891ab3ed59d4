package tern.rpc.netty;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Counts the request bytes of one connection in an {@link InboundBudget}, and decides whether its socket is read. The
 * bytes of an unauthenticated caller are counted in a separate, smaller budget. Confined to the event loop, except
 * where stated otherwise.
 */
public final class InboundAccount {

    /**
     * Messages and parts of messages of less than {@value} bytes are counted only after they have been in memory for
     * some time. A connection with less than {@value} counted bytes is always read.
     */
    private static final int SMALL_BYTES = 4 << 10;

    /** Controls whether the socket of the connection is read. */
    interface Reading {
        /** Stops or resumes reading. */
        void pause(boolean paused);

        /** Called when a message has not arrived completely within the time limit. */
        void tooSlow(String how);
    }

    // the budget in which this connection's bytes are counted; can be replaced until settled is true, only while
    // holding the lock on this object
    private volatile InboundBudget budget;
    // the byte counter of the peer's address in the budget; replaced together with the budget
    private volatile FairBudget.Part part;
    private volatile boolean settled; // true if the budget will not be replaced again
    private final InetAddress network;
    private final EventLoop loop;
    private final Duration longest;
    private final Reading reading;
    // the number of bytes of complete messages; until settled is true, it is changed only while holding the lock on
    // this object
    private final AtomicLong kept = new AtomicLong();
    private volatile long incomplete; // the number of bytes of incomplete messages; written only by the event loop
    private volatile boolean paused; // true while reading is paused; written only by the event loop
    private volatile long place; // the position among the waiting connections; written only by the event loop
    private boolean closed;
    private @Nullable Future<?> finishing;

    /**
     * @param network the address of the peer; for IPv6, its first 64 bits
     * @param settled whether the budget is never replaced, because the caller is known or no authentication is required
     * @param longest the maximum time until a message is complete while this connection is allowed to exceed the budget
     */
    InboundAccount(
            InboundBudget budget,
            InetAddress network,
            boolean settled,
            EventLoop loop,
            Duration longest,
            Reading reading) {
        this.budget = budget;
        this.part = budget.join(network);
        this.network = network;
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
     * are decoded or dropped. Any thread may call this method.
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
        long now = kept.addAndGet(bytes) + incomplete;
        budget.add(part, bytes);
        if (now < SMALL_BYTES && now - bytes >= SMALL_BYTES && paused) {
            lookAgain(budget); // the event loop might have paused reading because of the bytes that are now released
        }
    }

    /**
     * Moves all counted bytes to the given budget, which is not replaced again. Called at most once, and never if
     * {@code settled} was true in the constructor.
     */
    void moveTo(InboundBudget other) {
        if (closed) {
            return; // the connection is closed, so its bytes stay in the current budget until their calls release them
        }
        stopFinishing();
        budget.leave(this);
        synchronized (this) {
            long all = kept.get() + incomplete;
            FairBudget.Part joined = other.join(network);
            other.add(joined, all);
            budget.add(part, -all);
            part.leave();
            part = joined;
            budget = other;
            settled = true;
        }
        look();
    }

    /**
     * Changes the number of bytes of incomplete messages. Called after each read.
     *
     * @param bytes the change in the number of counted bytes; can be negative
     */
    public void incomplete(int bytes) {
        if (closed) {
            return;
        }
        if (bytes != 0) {
            long before = incomplete;
            incomplete = before + bytes;
            budget.add(part, bytes);
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
        pause(!closed && held() >= SMALL_BYTES && !hasRoom() && !finishes());
        if (paused && held() < SMALL_BYTES) {
            // a worker might have released bytes just before the pause began, and then could not end the pause
            pause(false);
        }
        if (paused) {
            budget.await(this);
        }
    }

    private void pause(boolean stop) {
        if (stop == paused) {
            return;
        }
        paused = stop;
        if (!stop) {
            budget.leave(this);
        }
        reading.pause(stop);
    }

    /** Returns the number of bytes of the budget that the connection holds. */
    private long held() {
        return incomplete + kept.get();
    }

    /**
     * Called when the connection begins to wait for free bytes in the budget.
     *
     * @param number the number of connections that began to wait for this budget earlier
     */
    void waitsAs(long number) {
        place = number;
    }

    /**
     * Returns whether this connection may exceed the budget before the given connection. The connection whose address
     * holds fewer bytes comes first. If both connections have the same address, the connection that has waited longer
     * comes first. Any thread may call this method.
     */
    boolean goesBefore(InboundAccount other) {
        return part == other.part ? place < other.place : part.bytes() < other.part.bytes();
    }

    /** Returns whether the budget that counts this connection's bytes is more than a quarter used. */
    boolean isShort() {
        return budget.isShort();
    }

    /** Returns whether the connection may add more bytes to the budget. Any thread may call this method. */
    boolean hasRoom() {
        return part.hasRoom(held());
    }

    /**
     * Returns whether the connection has an incomplete message. Only such connections may exceed the budget, one at a
     * time. Any thread may call this method.
     */
    boolean wantsTurn() {
        return incomplete > 0;
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
        if (!closed && !hasRoom()) {
            reading.tooSlow(incomplete + " bytes of a message arrived, but not the rest within " + longest.toMillis()
                    + " ms while " + part.full("bytes were held for requests" + budget.whose(), held()));
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

    /**
     * Schedules a check of whether this connection may be read. Any thread may call this method.
     *
     * @param requester the budget that has requested the check. The budget might have chosen this connection as the
     *     only connection that may exceed the budget to complete its message
     */
    void lookAgain(InboundBudget requester) {
        try {
            loop.execute(() -> {
                look();
                if (finishing == null || requester != budget) {
                    // this connection does not need to exceed the budget, so another waiting connection may exceed it
                    requester.finished(this);
                }
            });
        } catch (RejectedExecutionException e) {
            // the event loops have terminated, so this connection is closed
        }
    }

    /** Returns whether reading is paused. During a pause, slow progress of a message is not the peer's fault. */
    public boolean isPaused() {
        return paused;
    }

    /** Called when the connection is closed. Bytes of complete messages are released by their calls. */
    void closed() {
        if (closed) {
            return;
        }
        incomplete((int) -incomplete);
        closed = true;
        stopFinishing();
        look();
        part.leave();
    }
}
