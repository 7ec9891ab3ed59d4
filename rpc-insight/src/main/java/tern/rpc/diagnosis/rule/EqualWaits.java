package tern.rpc.diagnosis.rule;

import java.util.Arrays;
import java.util.Locale;
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

    /** Returns the evidence that nearly all of the given waits end after the same time; null if they do not. */
    public static @Nullable String fact(ExcessTime excess, Part wait) {
        double[] times = excess.accounts.stream()
                .filter(counted ->
                        counted.call().ledger().isEnded() && counted.times().of(wait) > 0)
                .filter(counted -> 2 * counted.times().of(wait) >= ownNanos(counted.call()))
                .mapToDouble(counted -> ownNanos(counted.call()))
                .sorted()
                .toArray();
        double median = times.length == 0 ? 0 : times[times.length / 2];
        long same = Arrays.stream(times)
                .filter(nanos -> Math.abs(nanos - median) <= SAME * median)
                .count();
        return times.length < MIN_CALLS || same < NEARLY_ALL * times.length
                ? null
                : String.format(
                        Locale.ROOT,
                        "equal    %d of %d waits take about %s ms, as if a timeout or a fixed delay ended them",
                        same,
                        times.length,
                        Times.millis(median));
    }

    /**
     * Returns the time that the call spent outside of measured operations, in nanoseconds. The examined wait is part of
     * this time.
     */
    private static double ownNanos(EndedCall call) {
        return call.ledger().nanos(Phase.OWN, call.endedNanos());
    }
}
