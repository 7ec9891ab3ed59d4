package tern.rpc.diagnosis.rule;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.ExcessTime;

/**
 * Recognizes waits that take the same time in nearly all calls. Because the duration of work varies, such waits most
 * likely end with a timeout, and not when the awaited work ends.
 */
public final class EqualWaits {

    private static final int MIN_CALLS = 5;

    /**
     * A wait counts as equally long as the others if it differs from the median of all waits by at most {@value} of the
     * median.
     */
    private static final double SAME = 0.05;

    private static final double NEARLY_ALL = 0.8;

    private EqualWaits() {}

    /**
     * Waits that take about the same time.
     *
     * @param same the number of these waits
     * @param all the number of all waits
     * @param nanos the median of all waits
     * @param areSuccessful whether the waiting calls ended without a failure
     */
    public record Equal(int same, int all, double nanos, boolean areSuccessful) {

        /** Returns the number and the time of the waits, for example {@code 9 of 10 waits take about 250 ms}. */
        public String text() {
            return same + " of " + all + " waits take about " + Times.millis(nanos) + " ms";
        }
    }

    /** Returns the given waits if nearly all of them take about the same time; null if they do not. */
    public static @Nullable Equal of(ExcessTime excess, Part wait) {
        List<EndedCall> calls = callsIn(excess, wait);
        double[] times =
                calls.stream().mapToDouble(call -> nanos(call, wait)).sorted().toArray();
        double median = times.length == 0 ? 0 : times[times.length / 2];
        long same = Arrays.stream(times)
                .filter(nanos -> Math.abs(nanos - median) <= SAME * median)
                .count();
        return times.length < MIN_CALLS || same < NEARLY_ALL * times.length
                ? null
                : new Equal((int) same, times.length, median, calls.stream().allMatch(call -> call.failure() == null));
    }

    /** Returns the evidence that nearly all of the given waits end after the same time; null if they do not. */
    public static @Nullable String fact(ExcessTime excess, Part wait) {
        Equal equal = of(excess, wait);
        return equal == null ? null : "equal    " + equal.text() + ", as if a timeout or a fixed delay ended them";
    }

    /** Returns the ended calls that spent most of their time outside of operations in the given wait. */
    public static List<EndedCall> callsIn(ExcessTime excess, Part wait) {
        return excess.accounts.stream()
                .filter(counted ->
                        counted.call().ledger().isEnded() && counted.times().of(wait) > 0)
                .filter(counted -> 2 * counted.times().of(wait) >= nanos(counted.call(), wait))
                .map(ExcessTime.Counted::call)
                .toList();
    }

    /** Returns the times that ended calls spent outside of operations, mostly in the given wait, in nanoseconds. */
    static double[] nanosOf(ExcessTime excess, Part wait) {
        return callsIn(excess, wait).stream()
                .mapToDouble(call -> nanos(call, wait))
                .toArray();
    }

    /**
     * Returns the time that the call spent outside of measured operations with a thread, or without a thread if the
     * wait is one for asynchronous work, in nanoseconds. The examined wait is part of this time.
     */
    private static double nanos(EndedCall call, Part wait) {
        Phase phase = wait.kind() == Part.Kind.ELSEWHERE ? Phase.UNATTRIBUTED : Phase.OWN;
        return call.ledger().nanos(phase, call.endedNanos());
    }
}
