package tern.rpc.netty;

import java.util.Comparator;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.Thrown;

/**
 * Limits the number of reconnection attempts that a transport starts by itself, for all endpoints together: {@value
 * #AT_ONCE} at once, then {@value #PER_SECOND} a second. If thousands of endpoints fail at once, the attempts would
 * otherwise occupy the processor and the network. Further attempts wait. The endpoint with the fewest failures comes
 * first, so that a restarted provider does not wait for endpoints that have been dead for a long time. One of {@value
 * #TURNS} attempts goes to the endpoint that has waited longest, so that each endpoint is tried. Attempts that are
 * started by calls do not count. Thread-safe.
 */
final class ReconnectPace {

    /**
     * The number of attempts that may start at once. The value is the default number of connections that a client has
     * to the providers of one service.
     */
    static final int AT_ONCE = 100;

    static final int PER_SECOND = 50;

    private static final int TURNS = 4;

    private static final Logger LOG = LoggerFactory.getLogger(ReconnectPace.class);

    private static final double PER_NANO = (double) PER_SECOND / TimeUnit.SECONDS.toNanos(1);
    private static final long TURN_MILLIS = TimeUnit.SECONDS.toMillis(1) / PER_SECOND;

    /** Runs tasks later. */
    @FunctionalInterface
    interface Timer {
        void schedule(Runnable task, long millis);
    }

    /**
     * A connection attempt that waits until the rate limit permits it.
     *
     * @param number the number of the attempt, in the order in which the attempts began to wait
     */
    private record Waiting(int failures, long number, BooleanSupplier attempt) {}

    private final NanoClock clock;
    private final Timer timer;
    // The waiting attempts, in two sorted sets. The lock on this object guards the following fields.
    private final TreeSet<Waiting> byFailures =
            new TreeSet<>(Comparator.comparingInt(Waiting::failures).thenComparingLong(Waiting::number));
    private final TreeSet<Waiting> byAge = new TreeSet<>(Comparator.comparingLong(Waiting::number));
    private long numbers;
    private int turn;
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
     * @param failures the number of failures since the endpoint's last useful connection; 0 if this connection has just
     *     been lost
     */
    void begin(BooleanSupplier attempt, int failures) {
        if (mayBegin(attempt, failures)) {
            run(attempt);
        }
    }

    /** Returns whether the attempt may start now. If not, stores the attempt until the rate limit permits it. */
    private synchronized boolean mayBegin(BooleanSupplier attempt, int failures) {
        if (!scheduled && takePermit()) {
            return true;
        }
        Waiting waiting = new Waiting(failures, numbers++, attempt);
        byFailures.add(waiting);
        byAge.add(waiting);
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
        boolean isAnyWaiting = !byAge.isEmpty();
        if (isAnyWaiting && takePermit()) {
            turn = (turn + 1) % TURNS;
            Waiting next = (turn == 0 ? byAge : byFailures).first();
            byFailures.remove(next);
            byAge.remove(next);
            return next.attempt();
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
