package tern.rpc.diagnosis.calls;

import java.util.ArrayDeque;
import java.util.Deque;
import tern.rpc.diagnosis.MethodMisses;

/**
 * Decides every second whether calls miss the latency target. A second counts as missed if the share of bad calls
 * (late, failed or refused) is above one percent with 99 % confidence (lower bound of Wilson's score interval). While
 * calls miss the latency target, a share above half a percent is enough. The share covers the last ten seconds, or the
 * last sixty seconds if there are few calls. The share counts only if at least five calls are bad. A miss of the
 * latency target begins when two of the last three seconds counted as missed, or when calls hang. In the first minute
 * with calls, only calls that hang for {@value #EARLY_HUNG_SECONDS} seconds begin a miss of the latency target. A
 * second also counts as missed if a single method misses the target ({@link MethodMisses}). Not thread-safe: only one
 * thread uses it.
 */
public final class MissWatch {

    private static final int FAST_SECONDS = 10;
    private static final int FAST_CALLS = 50;
    private static final int SLOW_SECONDS = 60;
    private static final int SLOW_CALLS = 20;
    private static final int MAX_SLOW_CALLS = FAST_CALLS * SLOW_SECONDS / FAST_SECONDS;

    /**
     * The share of late, failed or refused calls in the last {@value #FAST_SECONDS} seconds is used only if at least
     * one call has ended in the last {@value} seconds.
     */
    private static final int RECENT_SECONDS = 3;

    private static final int MIN_BAD = 5;
    private static final double SHARE = 0.01;

    /** The one-sided 99 % quantile of the normal distribution. */
    public static final double Z = 2.326;

    private static final int MIN_HUNG = 3;

    /** The diagnosis reports a miss after {@value} consecutive seconds with hanging calls. */
    private static final int HUNG_SECONDS = 2;

    /**
     * During the warm-up, the diagnosis reports a miss only after {@value} consecutive seconds with hanging calls. The
     * number is high because the first calls also wait until connections are opened and clients are initialized.
     */
    private static final int EARLY_HUNG_SECONDS = 10;

    /**
     * Calls count as recovering if the share of late, failed or refused calls falls below 1/{@value} of the highest
     * share since the miss began.
     */
    private static final double DECLINE = 3;

    /**
     * After {@value} seconds, calls no longer count as recovering. The calls that are still late then show the current
     * cause.
     */
    private static final int MAX_DECLINE_SECONDS = 15;

    private static final int QUIET_SECONDS = 30;

    /**
     * A lull is a series of at least {@value} seconds in which calls meet the target although the miss has not ended.
     * Late calls after a lull may have a different cause than late calls before the lull.
     */
    private static final int LULL_SECONDS = 8;

    /**
     * Late calls after a lull are assumed to have a different cause if their share is at least {@value} times the
     * highest share before the lull.
     */
    private static final double RENEWED = 3;

    /**
     * A miss that begins within the first {@value} seconds after the start of the process is assumed to be a
     * consequence of the start. Only seconds with calls are counted. Late calls after a lull are then assumed to have a
     * different cause.
     */
    private static final int START_SECONDS = 120;

    /**
     * The length of the warm-up. Only seconds in which at least one call ended are counted. During the warm-up, the JVM
     * loads classes and compiles code.
     */
    private static final int WARM_UP_SECONDS = 60;

    /** Usual times count as learned after more than {@value} seconds in which at least one call has ended. */
    private static final int LEARNING_SECONDS = 30;

    // for each second, the number of calls and the number of late, failed or refused calls
    private final Deque<long[]> seconds = new ArrayDeque<>();
    private int votes; // whether each of the last three seconds counted as missed, one bit per second
    private int hungLooks;
    private int quiet;
    private int secondsWithCalls;
    private boolean open;
    private boolean isOfStart; // whether the current miss began soon after the start
    private boolean renewed; // whether a new miss began in the last second, before the current miss ended
    private boolean missed; // whether calls missed the latency target in the last second
    // the highest share of late, failed or refused calls in RECENT_SECONDS consecutive seconds of the current miss
    private double highest;
    // the highest share of bad calls since the current miss began, over seconds in which calls missed the target
    private double highestMissed;
    private int declining; // the number of consecutive seconds in which calls have been recovering

    /**
     * Adds the calls in a second, and decides whether calls miss the latency target.
     *
     * @param calls the number of calls that ended in this second, including refused calls
     * @param bad the number of late, failed or refused calls
     * @param hung the number of running calls that have taken more than ten times the target so far
     * @param isOfMethod whether a single method misses the target
     * @return whether calls miss the target
     */
    public boolean second(long calls, long bad, int hung, boolean isOfMethod) {
        seconds.addLast(new long[] {calls, bad});
        if (seconds.size() > SLOW_SECONDS) {
            seconds.removeFirst();
        }
        if (calls > 0 && ++secondsWithCalls == WARM_UP_SECONDS + 1) {
            forgetWarmUp();
        }
        hungLooks = hung >= MIN_HUNG ? hungLooks + 1 : 0;
        votes = ((votes << 1) | (isOfMethod || isMissedByAll() ? 1 : 0)) & 0b111;
        boolean hangs = hungLooks >= (open || isWarm() ? HUNG_SECONDS : EARLY_HUNG_SECONDS);
        missed = Integer.bitCount(votes) >= 2 || hangs;
        renewed = false;
        if (missed && (open || isWarm() || hangs)) {
            renewed = open && isRenewed();
            if (!open || renewed) {
                isOfStart = secondsWithCalls <= START_SECONDS;
            }
            open = true;
            quiet = 0;
        } else if (open && ++quiet >= QUIET_SECONDS) {
            open = false;
        }
        updateHighest(recentShare(hung));
        return open;
    }

    /** Returns whether the share of late, failed or refused calls among the calls to all methods is too high. */
    private boolean isMissedByAll() {
        if (calls(FAST_SECONDS) >= FAST_CALLS) {
            return calls(RECENT_SECONDS) > 0 && isMiss(FAST_SECONDS, FAST_CALLS);
        }
        // If there were few calls in the last ten seconds, the share of bad calls is computed over the last minute.
        // This share is not used if there were many calls in the last minute: the traffic has then just stopped, and
        // the share would describe an earlier state. For the same reason, it does not prolong a miss whose calls have
        // met the target in the last ten seconds.
        boolean areFew = calls(FAST_SECONDS) > 0 && calls(SLOW_SECONDS) < MAX_SLOW_CALLS;
        boolean isRecent = !open || bad(FAST_SECONDS) > 0;
        return areFew && isRecent && isMiss(SLOW_SECONDS, SLOW_CALLS);
    }

    /**
     * Returns the share of late, failed, refused or hanging calls in the last {@value #RECENT_SECONDS} seconds.
     *
     * @param hung the number of hanging calls
     */
    private double recentShare(int hung) {
        long calls = calls(RECENT_SECONDS) + hung;
        return calls == 0 ? 0 : (double) (bad(RECENT_SECONDS) + hung) / calls;
    }

    private void updateHighest(double share) {
        if (!open) {
            highest = 0;
            highestMissed = 0;
        } else if (renewed) {
            highest = share;
            highestMissed = share;
        } else {
            highest = Math.max(highest, share);
            if (missed) { // A second that begins a new miss does not belong to the current miss.
                highestMissed = Math.max(highestMissed, share);
            }
        }
        declining = open && share < highest / DECLINE ? declining + 1 : 0;
    }

    /** Forgets the late calls of the warm-up, so that they do not begin a miss when the warm-up ends. */
    private void forgetWarmUp() {
        long[] last = seconds.removeLast();
        seconds.clear();
        seconds.addLast(last);
        votes = 0;
    }

    /**
     * Returns whether the late calls of the last second follow a lull and probably have a different cause than before.
     */
    private boolean isRenewed() {
        return quiet >= LULL_SECONDS && (isOfStart || recentShare(0) >= RENEWED * highestMissed);
    }

    /**
     * Returns whether the late calls of the last second begin a new miss, although the previous miss has not ended. If
     * so, calls count as having begun to miss the target in the last second.
     */
    public boolean isNew() {
        return renewed;
    }

    /**
     * Returns whether far fewer calls are late, failed or refused now than in the worst seconds of the current miss. If
     * so, the cause has probably ended, and the last calls are late only because of its consequences, such as garbage
     * and a backlog of work.
     */
    public boolean isDeclining() {
        return declining > 0 && declining <= MAX_DECLINE_SECONDS;
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

    private long bad(int count) {
        long bad = 0;
        int skipped = seconds.size() - count;
        for (long[] second : seconds) {
            if (skipped-- <= 0) {
                bad += second[1];
            }
        }
        return bad;
    }

    private boolean isMiss(int count, int minCalls) {
        long calls = calls(count);
        long bad = bad(count);
        return calls >= minCalls && bad >= MIN_BAD && lowerBound(bad, calls) > SHARE / (open ? 2 : 1);
    }

    /** Returns the lower bound of the Wilson score interval for a proportion, with a confidence of 99 %. */
    public static double lowerBound(long bad, long calls) {
        return lowerBound(bad, calls, Z);
    }

    /**
     * Returns the lower bound of the Wilson score interval for a proportion.
     *
     * @param z the number of standard deviations
     */
    public static double lowerBound(long bad, long calls, double z) {
        double share = (double) bad / calls;
        double z2 = z * z / calls;
        return (share + z2 / 2 - z * Math.sqrt(share * (1 - share) / calls + z2 / (4 * calls))) / (1 + z2);
    }

    /**
     * Returns whether calls missed the latency target in the last second. The result stays true for a few seconds after
     * calls have begun to meet the target again.
     */
    public boolean isMissed() {
        return missed;
    }

    /** Returns whether the application has run long enough for a log line at WARN about late calls. */
    public boolean isWarm() {
        return secondsWithCalls > WARM_UP_SECONDS;
    }

    /**
     * Returns whether usual times can be learned from the last second. Usual times can be learned while calls meet the
     * latency target and no miss is in progress.
     */
    public boolean isHealthy() {
        return !open && votes == 0 && secondsWithCalls > LEARNING_SECONDS;
    }
}
