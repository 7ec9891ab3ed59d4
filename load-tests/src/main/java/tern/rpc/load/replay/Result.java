package tern.rpc.load.replay;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of one setting of a round.
 *
 * @param fixed whether the mistake was fixed
 * @param steps all loads in order
 * @param knee the load with the highest rate that met the target; null if none did
 * @param beyond the load with a higher rate, during which the diagnosis was read
 * @param answer diagnosis of the provider
 */
record Result(
        Round round,
        boolean fixed,
        List<Step> steps,
        @Nullable Step knee,
        Step beyond,
        Answer answer) {

    /**
     * The knee with the mistake must be at most this share of the knee after the fix. Otherwise the mistake made no
     * difference.
     */
    static final double CLEARLY_WORSE = 0.7;

    Result {
        steps = List.copyOf(steps);
    }

    double qps() {
        return knee == null ? 0 : knee.rate();
    }

    /** Returns the load that the table shows. */
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
        return round.causes().stream().anyMatch(answer.firstTitle()::startsWith);
    }

    boolean isClearlyWorseThan(Result fix) {
        return qps() <= CLEARLY_WORSE * fix.qps();
    }
}
