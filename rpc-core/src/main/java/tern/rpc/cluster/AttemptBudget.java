package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.NanoClock;

/**
 * Limits additional attempts to a share of the calls, counted in windows of {@value #WINDOW_SECONDS} s. Counting a call
 * only increments a counter. Thread-safe.
 */
public final class AttemptBudget {

    private static final long WINDOW_SECONDS = 10;

    private final NanoClock clock;
    private final double shareOfCalls;
    private final int perSecond;
    private final LongAdder calls = new LongAdder();

    private long windowStart; // This object's lock guards windowStart, callsBefore and "spent".
    private long callsBefore;
    private long spent;

    /**
     * @param shareOfCalls the maximum number of additional attempts, as a fraction of the number of calls
     * @param perSecond the number of additional attempts per second that are always allowed
     */
    AttemptBudget(NanoClock clock, double shareOfCalls, int perSecond) {
        this.clock = clock;
        this.shareOfCalls = shareOfCalls;
        this.perSecond = perSecond;
        this.windowStart = clock.nanoTime();
    }

    /** Creates a retry budget (docs/limits.md). */
    public static AttemptBudget forRetries(NanoClock clock) {
        return new AttemptBudget(clock, 0.1, 3);
    }

    /** Creates a hedge budget (docs/limits.md). */
    public static AttemptBudget forHedges(NanoClock clock) {
        return new AttemptBudget(clock, 0.05, 0);
    }

    /** Counts a call, which increases the budget. */
    public void called() {
        calls.increment();
    }

    /** Returns the number of calls counted since this budget was created. */
    long calls() {
        return calls.sum();
    }

    /**
     * Takes one attempt from the budget.
     *
     * @return false if the budget is spent
     */
    public synchronized boolean spend() {
        // allowed() must be called before "spent" is read, because allowed() resets "spent" when a new counting window
        // of 10 s begins
        double allowed = allowed();
        if (spent + 1 > allowed) {
            return false;
        }
        spent++;
        return true;
    }

    /** Returns an attempt to the budget, because the attempt was not made. */
    public synchronized void giveBack() {
        spent = Math.max(0, spent - 1);
    }

    /** Returns whether more than half of the additional attempts that the current window of 10 s permits are spent. */
    public synchronized boolean isShort() {
        // allowed() must be called before "spent" is read, because allowed() resets "spent" when a new counting window
        // of 10 s begins
        double allowed = allowed();
        return 2 * spent > allowed;
    }

    private double allowed() {
        long now = clock.nanoTime();
        long total = calls.sum();
        if (now - windowStart >= TimeUnit.SECONDS.toNanos(WINDOW_SECONDS)) {
            windowStart = now;
            callsBefore = total;
            spent = 0;
        }
        return Math.max((double) perSecond * WINDOW_SECONDS, shareOfCalls * (total - callsBefore));
    }
}
