package tern.rpc.load.replay;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one setting of a round showed.
 *
 * @param fixed whether the mistake was undone
 * @param steps all loads, in the order in which they were driven
 * @param knee the load with the highest rate that held; null when none did
 * @param beyond the load with a rate above it, during which the provider was asked
 * @param advice what it answered
 */
record Result(
        Round round,
        boolean fixed,
        List<Step> steps,
        @Nullable Step knee,
        Step beyond,
        Advice advice) {

    /** The knee after the fix has to be this much higher, or the mistake made no difference here. */
    static final double CLEARLY_WORSE = 0.7;

    Result {
        steps = List.copyOf(steps);
    }

    double qps() {
        return knee == null ? 0 : knee.rate();
    }

    /** The load that the table shows. */
    Step shown() {
        return knee == null ? beyond : knee;
    }

    String name() {
        return round.number() + (round.fix().isEmpty() ? "" : fixed ? ", fixed" : "");
    }

    boolean isMistake() {
        return !fixed && !round.causes().isEmpty();
    }

    boolean isCauseNamed() {
        return round.causes().contains(advice.firstRule());
    }

    boolean isClearlyWorseThan(Result fix) {
        return qps() <= CLEARLY_WORSE * fix.qps();
    }
}
