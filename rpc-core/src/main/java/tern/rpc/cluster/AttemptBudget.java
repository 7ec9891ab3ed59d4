package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.NanoClock;

/**
 * Limits extra attempts to a share of the calls. The share is counted over windows of {@value #WINDOW_SECONDS} s. A
 * call only increments a counter. Thread-safe.
 */
public final class AttemptBudget {

    private static final long WINDOW_SECONDS = 10;

    private final NanoClock clock;
    private final double shareOfCalls;
    private final int perSecond;
    private final LongAdder calls = new LongAdder();

    private long windowStart; // guarded by this, like the next fields
    private long callsBefore;
    private long spent;

    /**
     * @param shareOfCalls the extra attempts as a share of the calls
     * @param perSecond the number of extra attempts per second that are always allowed
     */
    AttemptBudget(NanoClock clock, double shareOfCalls, int perSecond) {
        this.clock = clock;
        this.shareOfCalls = shareOfCalls;
        this.perSecond = perSecond;
        this.windowStart = clock.nanoTime();
    }

    /** The budget for retries (docs/limits.md). */
    public static AttemptBudget forRetries(NanoClock clock) {
        return new AttemptBudget(clock, 0.1, 3);
    }

    /** The budget for hedges (docs/limits.md). */
    public static AttemptBudget forHedges(NanoClock clock) {
        return new AttemptBudget(clock, 0.05, 0);
    }

    /** Counts a call, which adds to the budget. */
    public void called() {
        calls.increment();
    }

    /** The number of calls so far. */
    long calls() {
        return calls.sum();
    }

    /** Takes one attempt from the budget. Returns false if the budget is spent. */
    public synchronized boolean spend() {
        double allowed = allowed(); // this may begin a new window
        if (spent + 1 > allowed) {
            return false;
        }
        spent++;
        return true;
    }

    /** Returns an attempt that was not made. */
    public synchronized void giveBack() {
        spent = Math.max(0, spent - 1);
    }

    /** Whether more than half of the budget of this window is spent. */
    public synchronized boolean isShort() {
        double allowed = allowed(); // this may begin a new window
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
