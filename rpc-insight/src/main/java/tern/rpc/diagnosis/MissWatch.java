package tern.rpc.diagnosis;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Decides every second whether calls miss the latency target. A second counts as missed if the share of bad calls
 * (late, failed or refused) is above one percent with 99 % confidence (lower bound of Wilson's score interval). The
 * share covers the last ten seconds, or the last sixty seconds if there are few calls. A miss begins when two of the
 * last three seconds counted as missed, or when calls hang. Not thread-safe: only one thread uses it.
 */
final class MissWatch {

    private static final int FAST_SECONDS = 10;
    private static final int FAST_CALLS = 50;
    private static final int SLOW_SECONDS = 60;
    private static final int SLOW_CALLS = 20;
    private static final int MAX_SLOW_CALLS = FAST_CALLS * SLOW_SECONDS / FAST_SECONDS;

    /**
     * The calls in the last {@value #FAST_SECONDS} seconds show a miss only if at least one call has ended within this
     * time.
     */
    private static final int RECENT_SECONDS = 3;

    private static final int MIN_BAD = 5;
    private static final double SHARE = 0.01;
    private static final double Z = 2.326; // the one-sided 99 % quantile of the normal distribution
    private static final int MIN_HUNG = 3;
    private static final int QUIET_SECONDS = 30;

    /**
     * The length of the warm-up. Only seconds in which at least one call ended are counted. During the warm-up, the JVM
     * loads classes and compiles code.
     */
    private static final int WARM_UP_SECONDS = 60;

    /** Usual times are learned only after more than this many seconds in which at least one call ended. */
    private static final int LEARNING_SECONDS = 30;

    // for each second, the number of calls and the number of late, failed or refused calls
    private final Deque<long[]> seconds = new ArrayDeque<>();
    private int votes; // whether each of the last three seconds counted as missed, one bit per second
    private int hungLooks;
    private int quiet;
    private int secondsWithCalls;
    private boolean open;
    private boolean missed; // whether calls missed the latency target in the last second

    /**
     * Adds the calls in a second, and decides whether calls miss the latency target.
     *
     * @param calls the number of calls that ended in this second, including refused calls
     * @param bad the number of late, failed or refused calls
     * @param hung the number of running calls that have taken more than ten times the target so far
     * @return whether calls miss the target
     */
    boolean second(long calls, long bad, int hung) {
        seconds.addLast(new long[] {calls, bad});
        if (seconds.size() > SLOW_SECONDS) {
            seconds.removeFirst();
        }
        if (calls > 0) {
            secondsWithCalls++;
        }
        hungLooks = hung >= MIN_HUNG ? hungLooks + 1 : 0;
        boolean bareMiss = false;
        if (calls(FAST_SECONDS) >= FAST_CALLS) {
            bareMiss = calls(RECENT_SECONDS) > 0 && isMiss(FAST_SECONDS, FAST_CALLS);
            // There were few calls in the last ten seconds, so the share of bad calls is computed over the last minute.
            // The share is not used if there were many calls in the last minute. These calls have just stopped, so the
            // share would describe the past.
        } else if (calls(FAST_SECONDS) > 0 && calls(SLOW_SECONDS) < MAX_SLOW_CALLS) {
            bareMiss = isMiss(SLOW_SECONDS, SLOW_CALLS);
        }
        votes = ((votes << 1) | (bareMiss ? 1 : 0)) & 0b111;
        missed = Integer.bitCount(votes) >= 2 || hungLooks >= 2;
        if (missed && (open || secondsWithCalls > WARM_UP_SECONDS || hungLooks >= 2)) {
            open = true;
            quiet = 0;
        } else if (open && ++quiet >= QUIET_SECONDS) {
            open = false;
        }
        return open;
    }

    private long calls(int count) {
        long calls = 0;
        int skipped = seconds.size() - count;
        for (long[] second : seconds) {
            if (skipped-- <= 0) {
                calls += second[0];
            }
        }
        return calls;
    }

    private boolean isMiss(int count, int minCalls) {
        long calls = calls(count);
        long bad = 0;
        int skipped = seconds.size() - count;
        for (long[] second : seconds) {
            if (skipped-- <= 0) {
                bad += second[1];
            }
        }
        return calls >= minCalls && bad >= MIN_BAD && lowerBound(bad, calls) > SHARE / (open ? 2 : 1);
    }

    /** Returns the lower bound of the Wilson score interval for a proportion. */
    static double lowerBound(long bad, long calls) {
        double share = (double) bad / calls;
        double z2 = Z * Z / calls;
        return (share + z2 / 2 - Z * Math.sqrt(share * (1 - share) / calls + z2 / (4 * calls))) / (1 + z2);
    }

    /**
     * Returns whether calls missed the latency target in the last second. A miss itself ends only some seconds after
     * calls meet the target again.
     */
    boolean isMissed() {
        return missed;
    }

    /** Returns whether the application has run long enough for a miss to be logged at WARN. */
    boolean isWarm() {
        return secondsWithCalls > WARM_UP_SECONDS;
    }

    /**
     * Returns whether usual times can be learned from this second. This is the case if calls meet the latency target
     * and no miss is in progress.
     */
    boolean isHealthy() {
        return !open && votes == 0 && secondsWithCalls > LEARNING_SECONDS;
    }
}
