package tern.rpc.load.replay;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of one round, with or without the fix.
 *
 * @param fixed whether the configuration error was fixed
 * @param steps all loads in order
 * @param knee the load at the highest rate at which the target was met; null if no load met it
 * @param beyond the load at a rate above the knee, during which the diagnosis was read
 * @param answer the provider's diagnosis
 */
record Result(
        Round round,
        boolean fixed,
        List<Step> steps,
        @Nullable Step knee,
        Step beyond,
        Answer answer) {

    /**
     * A fix makes a clear difference if the highest rate that meets the target without the fix is at most {@value} of
     * the highest rate with the fix.
     */
    static final double CLEARLY_WORSE = 0.7;

    Result {
        steps = List.copyOf(steps);
    }

    double qps() {
        return knee == null ? 0 : knee.rate();
    }

    /**
     * Returns the load that the results table shows: the load at the knee or, if no load met the target, the load
     * beyond the knee.
     */
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
