package tern.rpc.netty;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.Thrown;

/**
 * Limits how many attempts to reconnect a transport starts on its own, for all endpoints together: {@value #AT_ONCE} at
 * once, then {@value #PER_SECOND} a second. If thousands of endpoints fail at once, the attempts would otherwise occupy
 * the processor and the network. Further attempts wait in a queue. Attempts that are started by calls do not count.
 * Thread-safe.
 */
final class ReconnectPace {

    /**
     * The number of attempts that may start at once. The value is the default number of connections that a client has
     * to the providers of one service.
     */
    static final int AT_ONCE = 100;

    static final int PER_SECOND = 50;

    private static final Logger LOG = LoggerFactory.getLogger(ReconnectPace.class);

    private static final double PER_NANO = (double) PER_SECOND / TimeUnit.SECONDS.toNanos(1);
    private static final long TURN_MILLIS = TimeUnit.SECONDS.toMillis(1) / PER_SECOND;

    /** Runs tasks later. */
    @FunctionalInterface
    interface Timer {
        void schedule(Runnable task, long millis);
    }

    private final NanoClock clock;
    private final Timer timer;
    // Attempts that replace a connection that has just been lost. This object's lock guards the following fields.
    private final Queue<BooleanSupplier> first = new ArrayDeque<>();
    private final Queue<BooleanSupplier> others = new ArrayDeque<>();
    private double permits = AT_ONCE;
    private long countedNanos;
    private boolean scheduled;

    ReconnectPace(NanoClock clock, Timer timer) {
        this.clock = clock;
        this.timer = timer;
        this.countedNanos = clock.nanoTime();
    }

    /**
     * Starts an attempt now, on the calling thread, or later, on a thread of the timer.
     *
     * @param attempt starts the attempt. Returns false if the attempt is no longer needed; it is then not counted
     * @param isFirst whether the attempt replaces a connection that has just been lost. Such attempts are made before
     *     attempts to connect to endpoints that were already unreachable
     */
    void begin(BooleanSupplier attempt, boolean isFirst) {
        if (mayBegin(attempt, isFirst)) {
            run(attempt);
        }
    }

    /** Returns false if the attempt must wait. In this case, adds the attempt to a queue. */
    private synchronized boolean mayBegin(BooleanSupplier attempt, boolean isFirst) {
        if (!scheduled && takePermit()) {
            return true;
        }
        (isFirst ? first : others).add(attempt);
        scheduleNext();
        return false;
    }

    private void run(BooleanSupplier attempt) {
        boolean isBegun = false;
        try {
            isBegun = attempt.getAsBoolean();
        } catch (RuntimeException | Error e) {
            Thrown.log(e, shown -> LOG.error("An attempt to reconnect failed", shown));
        }
        if (!isBegun) {
            giveBack();
        }
    }

    private boolean takePermit() {
        long now = clock.nanoTime();
        permits = Math.min(AT_ONCE, permits + (now - countedNanos) * PER_NANO);
        countedNanos = now;
        if (permits < 1) {
            return false;
        }
        permits--;
        return true;
    }

    private void scheduleNext() {
        if (!scheduled) {
            timer.schedule(this::beginWaiting, TURN_MILLIS);
            scheduled = true;
        }
    }

    private void beginWaiting() {
        for (BooleanSupplier next = next(); next != null; next = next()) {
            run(next);
        }
    }

    /** Returns the next waiting attempt, or null if none may start now. */
    private synchronized @Nullable BooleanSupplier next() {
        boolean isAnyWaiting = !first.isEmpty() || !others.isEmpty();
        if (isAnyWaiting && takePermit()) {
            return first.isEmpty() ? others.poll() : first.poll();
        }
        scheduled = false;
        if (isAnyWaiting) {
            scheduleNext();
        }
        return null;
    }

    private synchronized void giveBack() {
        permits = Math.min(AT_ONCE, permits + 1);
    }
}
