package tern.rpc.diagnosis;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Decides every second whether calls miss the target. A miss is open while, with a certainty of 99 %, the true share of
 * bad calls is above one in a hundred (lower bound of Wilson's score interval). This must hold over the last ten
 * seconds, or over sixty for slow traffic, in two of three seconds. Hung calls also open a miss. Used by one thread.
 */
final class MissWatch {

    private static final int FAST_SECONDS = 10;
    private static final int FAST_CALLS = 50;
    private static final int SLOW_SECONDS = 60;
    private static final int SLOW_CALLS = 20;
    private static final int MAX_SLOW_CALLS = FAST_CALLS * SLOW_SECONDS / FAST_SECONDS;

    /** Without calls in this time nothing is missed any more. */
    private static final int RECENT_SECONDS = 3;

    private static final int MIN_BAD = 5;
    private static final double SHARE = 0.01;
    private static final double Z = 2.326; // quantile of the normal distribution for 99 %, one-sided
    private static final int MIN_HUNG = 3;
    private static final int QUIET_SECONDS = 30;

    /** Number of first seconds with calls, in which classes are loaded and code is compiled. */
    private static final int WARM_UP_SECONDS = 60;

    /** After this number of seconds, usual times are learned from healthy seconds. */
    private static final int LEARNING_SECONDS = 30;

    private final Deque<long[]> seconds = new ArrayDeque<>(); // each element: number of calls, number of bad calls
    private int votes; // votes of the last three seconds, one bit each
    private int hungLooks;
    private int quiet;
    private int secondsWithCalls;
    private boolean open;
    private boolean missed; // in the last second

    /**
     * Adds a second.
     *
     * @param calls the calls that ended in this second, including refused ones
     * @param bad the calls that were late, failed or were refused
     * @param hung the calls that run for more than ten targets
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
        } else if (calls(FAST_SECONDS) > 0 && calls(SLOW_SECONDS) < MAX_SLOW_CALLS) { // else fast traffic has ended
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

    /** The lower bound of Wilson's score interval for a share. */
    static double lowerBound(long bad, long calls) {
        double share = (double) bad / calls;
        double z2 = Z * Z / calls;
        return (share + z2 / 2 - Z * Math.sqrt(share * (1 - share) / calls + z2 / (4 * calls))) / (1 + z2);
    }

    /** Whether the target was still missed in the last second; a miss that is open may be over. */
    boolean isMissed() {
        return missed;
    }

    /** Whether the application has run long enough to log a miss at WARN. */
    boolean isWarm() {
        return secondsWithCalls > WARM_UP_SECONDS;
    }

    /** Whether usual times can be learned from this second: there is no miss, and none has just ended. */
    boolean isHealthy() {
        return !open && votes == 0 && secondsWithCalls > LEARNING_SECONDS;
    }
}
