package tern.rpc.diagnosis;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;

/**
 * Decides whether web requests that are refused with status 429 (too many requests) count as bad calls, like late and
 * failed calls. If a rate limiter works as intended and refuses only calls beyond the usual number, the refused
 * requests do not count. If fewer calls than usual are served while requests are refused, the refused requests count.
 * Not thread-safe: only one thread uses it.
 */
final class LimitedCallers {

    private static final String TOO_MANY = Part.STATUS + "429";

    /** The number of seconds whose served calls are compared with the usual number. */
    private static final int SECONDS = 3;

    /**
     * The number of served calls counts as lower than usual only if the difference exceeds {@value} of the usual
     * number.
     */
    private static final double SHARE = 0.03;

    /**
     * The minimum difference between the usual and the current number of served calls, in standard deviations of a
     * Poisson distribution.
     */
    private static final double DEVIATIONS = 2;

    /**
     * While calls are refused with status 429, the usual number of calls is not updated for up to {@value} seconds.
     * Without this pause, the reduced number of served calls would soon count as usual if a limiter refuses too many
     * calls.
     */
    private static final int LEARNING_PAUSE = 60;

    private final Deque<Long> served = new ArrayDeque<>(); // the number of served calls in each second
    private long seen; // the number of answers with status 429 up to the previous second
    private long ignored; // the number of answers with status 429 that do not count as bad calls
    private int limitedSeconds; // the number of consecutive seconds with status 429 up to now

    /**
     * Returns a copy of the counters at the end of a second, without the answers with status 429 that do not count as
     * bad calls.
     *
     * @param before the result of this method for the previous second; null for the first second
     * @param usualPerSecond the usual number of served calls per second; negative if unknown
     */
    CounterSnapshot counted(@Nullable CounterSnapshot before, CounterSnapshot current, double usualPerSecond) {
        long all = current.refused().getOrDefault(TOO_MANY, 0L);
        long limited = all - seen;
        seen = all;
        limitedSeconds = limited > 0 ? limitedSeconds + 1 : 0;
        served.addLast(before == null ? 0 : current.since(before, 0).calls());
        if (served.size() > SECONDS) {
            served.removeFirst();
        }
        if (before != null && usualPerSecond > 0 && !isFewerThanUsual(usualPerSecond)) {
            ignored += limited;
        }
        return new CounterSnapshot(current.atNanos(), current.methods(), counted(current.refused()), current.pools());
    }

    private boolean isFewerThanUsual(double usualPerSecond) {
        double usual = usualPerSecond * served.size();
        double fewer = usual - served.stream().mapToLong(Long::longValue).sum();
        return fewer > SHARE * usual + DEVIATIONS * Math.sqrt(usual);
    }

    /** Returns the refusals by reason, without the answers with status 429 that do not count as bad calls. */
    Map<String, Long> counted(Map<String, Long> refused) {
        Map<String, Long> counted = new HashMap<>(refused);
        counted.computeIfPresent(TOO_MANY, (reason, count) -> count - ignored);
        return counted;
    }

    /** Returns whether the usual number of calls can be learned from the last second. */
    boolean mayLearnCalls() {
        return limitedSeconds == 0 || limitedSeconds > LEARNING_PAUSE;
    }
}
