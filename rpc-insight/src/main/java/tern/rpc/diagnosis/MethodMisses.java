package tern.rpc.diagnosis;

import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.CallRecords;
import tern.rpc.diagnosis.calls.CallRecords.Sums;
import tern.rpc.diagnosis.calls.MissWatch;

/**
 * Decides whether a single method misses the latency target in a large share of its calls. A method with few calls
 * hardly changes the share of late calls among all calls, so each method is also judged alone. Not thread-safe: only
 * one thread uses it.
 */
public final class MethodMisses {

    /** Methods with few calls are judged by the calls of the last {@value} seconds. */
    private static final int SECONDS = 20;

    /**
     * Methods with many calls are judged by the calls of the last {@value} seconds. The period is shorter, so that late
     * calls are detected sooner.
     */
    private static final int RECENT_SECONDS = 10;

    private static final int MIN_BAD = 8;

    private static final int MIN_SUSPECT = 3;

    /**
     * A method counts as missing the target because of failures only if at least {@value} of its calls failed. The
     * number is lower than {@link #MIN_BAD}, because calls that usually succeed rarely fail by chance.
     */
    private static final int MIN_FAILED = 5;

    /**
     * A method counts as missing the target if more than {@value} of its calls are late or fail, with a confidence of
     * 99 %.
     */
    private static final double SHARE = 0.1;

    /**
     * A method also counts as missing the target if more than {@value} of its calls fail, with a confidence of 99 %.
     * The share is smaller than {@link #SHARE}, because a failure is worse than a late answer.
     */
    private static final double FAILED_SHARE = 0.03;

    /**
     * A method counts as missing the target only if its share of late or failed calls is at least {@value} times the
     * usual share.
     */
    private static final double MORE_THAN_USUAL = 3;

    /** The prefix of the baseline keys for the usual share of late or failed calls to a method. */
    private static final String LATE = "late calls of ";

    private final Baseline usual;
    private final CallRecords records;

    MethodMisses(Baseline usual, CallRecords records) {
        this.usual = usual;
        this.records = records;
    }

    /** Updates each method's usual shares of late and failed calls with the calls of one second outside a miss. */
    static void learn(Baseline usual, CounterSnapshot before, CounterSnapshot now) {
        now.methodsSince(before).forEach((method, since) -> {
            if (since.sent() > 0) {
                usual.learn(LATE + method, (double) bad(since) / since.sent());
                usual.learn(Baseline.FAILED_CALLS + method, (double) failed(since) / since.sent());
            }
        });
    }

    private static long bad(Sums sums) {
        return Math.max(sums.late(), sums.failed()) + sums.refused();
    }

    private static long failed(Sums sums) {
        return sums.failed() + sums.refused();
    }

    /**
     * Returns whether at least one method that usually meets the target is currently missing it.
     *
     * @param seconds the counters at the end of each of the last seconds, the oldest first
     * @param isExcused returns whether a late call does not count, because it usually takes this long or because its
     *     caller is slow
     */
    boolean isAny(Deque<CounterSnapshot> seconds, Predicate<EndedCall> isExcused) {
        CounterSnapshot end = seconds.peekLast();
        CounterSnapshot start = before(seconds, SECONDS);
        CounterSnapshot middle = before(seconds, RECENT_SECONDS);
        if (start == null || middle == null || end == null) {
            return false;
        }
        for (Map.Entry<String, Sums> entry : end.methods().entrySet()) {
            String method = entry.getKey();
            Sums since = entry.getValue().since(start.methods().getOrDefault(method, Sums.NONE));
            Sums lately = entry.getValue().since(middle.methods().getOrDefault(method, Sums.NONE));
            boolean goesOn = bad(lately) > SHARE * lately.sent() || failed(lately) > FAILED_SHARE * lately.sent();
            if (goesOn
                    && (isMissed(method, since, start.atNanos(), isExcused)
                            || isMissed(method, lately, middle.atNanos(), isExcused))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether a method may have begun to miss the target: some of its last calls are late, many more than
     * usual. Their number is still too small to be certain.
     */
    boolean isSuspected(Deque<CounterSnapshot> seconds) {
        CounterSnapshot end = seconds.peekLast();
        CounterSnapshot middle = before(seconds, RECENT_SECONDS);
        return end != null
                && middle != null
                && end.methodsSince(middle).entrySet().stream()
                        .anyMatch(entry -> isSuspect(entry.getKey(), entry.getValue()));
    }

    private boolean isSuspect(String method, Sums lately) {
        double usually = usual.reliableFigure(LATE + method);
        long bad = bad(lately);
        return usually >= 0
                && bad >= MIN_SUSPECT
                && bad >= SHARE * lately.sent()
                && bad >= MORE_THAN_USUAL * usually * lately.sent()
                && !usual.hasNeverMetTarget(method);
    }

    /**
     * Returns the counters as they were {@code count} seconds ago. Returns the oldest counters if the history is
     * shorter, and null if there is no history.
     */
    private static @Nullable CounterSnapshot before(Deque<CounterSnapshot> seconds, int count) {
        CounterSnapshot found = null;
        Iterator<CounterSnapshot> newest = seconds.descendingIterator();
        for (int i = 0; i <= count && newest.hasNext(); i++) {
            found = newest.next();
        }
        return found;
    }

    private boolean isMissed(String method, Sums sums, long sinceNanos, Predicate<EndedCall> isExcused) {
        if (!fails(method, sums.sent(), failed(sums)) && !isLate(method, sums.sent(), bad(sums))) {
            return false;
        }
        long excused = excused(method, sinceNanos, isExcused);
        return fails(method, sums.sent(), failed(sums) - excused) || isLate(method, sums.sent(), bad(sums) - excused);
    }

    private boolean fails(String method, long calls, long failed) {
        double usually = usual.reliableFigure(Baseline.FAILED_CALLS + method);
        return failed >= MIN_FAILED && isMissed(method, calls, failed, FAILED_SHARE, usually);
    }

    private boolean isLate(String method, long calls, long bad) {
        return bad >= MIN_BAD && isMissed(method, calls, bad, SHARE, usual.reliableFigure(LATE + method));
    }

    private boolean isMissed(String method, long calls, long bad, double share, double usually) {
        return usually >= 0
                && MissWatch.lowerBound(Math.min(bad, calls), calls) > share
                && bad >= MORE_THAN_USUAL * usually * calls
                && !usual.hasNeverMetTarget(method);
    }

    private long excused(String method, long sinceNanos, Predicate<EndedCall> isExcused) {
        return records.bad(sinceNanos).stream()
                .filter(call -> call.method().equals(method) && isExcused.test(call))
                .count();
    }
}
