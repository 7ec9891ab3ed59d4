package tern.rpc.netty;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The one-way calls of a client's connection that the server might still run. The callers of one-way calls do not wait,
 * but many servers cancel running one-way calls when the connection is closed. A connection that accepts no more calls
 * is therefore kept open until the server has answered the one-way calls, but only for a limited time. Confined to the
 * event loop.
 */
public final class PendingOneWayCalls {

    private final PendingCalls calls;
    private final Runnable whenLeft;
    private int count;
    private boolean late;

    /**
     * @param calls the other calls of the connection
     * @param whenLeft runs when the connection need no longer be kept: the server has answered all one-way calls, or
     *     the time limit has passed
     */
    PendingOneWayCalls(PendingCalls calls, Runnable whenLeft) {
        this.calls = calls;
        this.whenLeft = whenLeft;
    }

    /** Called when a one-way call has been sent, unless the server has already answered it. */
    public void begins() {
        count++;
        calls.oneWay(count);
    }

    /** Called when a one-way call has ended: the server has answered it or reset its stream. */
    public void ends() {
        count--;
        calls.oneWay(count);
        if (count == 0) {
            whenLeft.run();
        }
    }

    /**
     * Returns whether the connection may be closed, because all one-way calls have ended or the time limit has passed.
     */
    boolean mayBeLeft() {
        return count == 0 || late;
    }

    /**
     * Called when the connection accepts no more calls.
     *
     * @param longest the time after which the connection is no longer kept for the unanswered one-way calls. Without
     *     this limit, a server that never answers them would keep the connection open
     */
    void draining(@Nullable EventLoop loop, Duration longest) {
        if (loop != null && !loop.isShuttingDown()) {
            loop.schedule(this::areLate, longest.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private void areLate() {
        late = true;
        whenLeft.run();
    }
}
