package tern.rpc.client;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.cluster.AttemptBudget;
import tern.rpc.metrics.RecentPercentile;

/**
 * Decides when a call to one idempotent method is sent to a second provider. A call is sent again when it has taken
 * longer than 95 % of the recent attempts, and at least {@value #MIN_MILLIS} ms. At most 5 % of the service's calls are
 * hedged. No call is hedged while more than half of the service's retry budget is spent. Thread-safe.
 */
final class Hedging {

    static final long MIN_MILLIS = 10;

    private static final double SHARE = 0.95;
    private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(MIN_MILLIS);

    /**
     * Limits and counts the hedges of one service. A hedge is an additional attempt that is sent to a second provider.
     */
    static final class Budget {

        private final RetryPolicy retries;
        private final AttemptBudget hedges;
        private final LongAdder sent = new LongAdder();

        Budget(RetryPolicy retries, NanoClock clock) {
            this.retries = retries;
            this.hedges = AttemptBudget.forHedges(clock);
        }

        /** Returns the number of hedges sent since the client started. */
        long sent() {
            return sent.sum();
        }
    }

    private final RecentPercentile times;
    private final Budget budget;
    private final ScheduledExecutorService timer;

    /** @param timer starts the hedges; its tasks do not block */
    Hedging(NanoClock clock, Budget budget, ScheduledExecutorService timer) {
        this.times = new RecentPercentile(clock, SHARE);
        this.budget = budget;
        this.timer = timer;
    }

    /**
     * Counts a call and schedules its hedge.
     *
     * @param runsOn runs the hedge, which includes encoding the request
     * @return the scheduled hedge; null if the method's usual duration is unknown, or if the client is closed
     */
    @Nullable
    ScheduledFuture<?> plan(Runnable hedge, Executor runsOn) {
        budget.hedges.called();
        long percentile = times.percentileNanos();
        if (percentile < 0) {
            return null;
        }
        try {
            return timer.schedule(() -> runsOn.execute(hedge), Math.max(MIN_NANOS, percentile), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return null; // The client is closed. The first attempt fails and reports this.
        }
    }

    /**
     * Takes one hedge from the budget.
     *
     * @return false if the budget is spent
     */
    boolean spend() {
        return !budget.retries.isShort() && budget.hedges.spend();
    }

    void sent() {
        budget.sent.increment();
    }

    /** Returns one hedge to the budget, because the hedge was not sent. */
    void giveBack() {
        budget.hedges.giveBack();
    }

    /** Records the duration of an attempt that has ended or was abandoned. */
    void took(long nanos) {
        times.add(nanos);
    }
}
