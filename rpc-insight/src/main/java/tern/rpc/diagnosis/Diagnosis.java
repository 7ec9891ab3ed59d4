package tern.rpc.diagnosis;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known about the calls of an application: whether they miss their target, and why.
 *
 * @param state whether calls miss the target
 * @param text the same for people
 * @param miss what is missed; null in a state other than {@link State#MISS}
 * @param causes the causes, the most expensive first; at least one in a miss, empty otherwise
 * @param accountMs the mean time of a bad call by part, in milliseconds, the longest first; sums up to the call's time
 * @param unexplainedMs the part of it that no evidence explains
 * @param missing evidence that the system does not give
 */
public record Diagnosis(
        State state,
        String text,
        @Nullable Miss miss,
        List<Cause> causes,
        Map<String, Double> accountMs,
        double unexplainedMs,
        List<String> missing) {

    public Diagnosis {
        causes = List.copyOf(causes);
        accountMs = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(accountMs));
        missing = List.copyOf(missing);
    }

    /** Whether calls miss the target. */
    public enum State {
        /** There were too few calls to judge. */
        QUIET,
        /** Calls are in time. */
        HEALTHY,
        /** Calls miss the target, fail or are refused. */
        MISS
    }

    /**
     * A target that is missed.
     *
     * @param since its beginning
     * @param seconds the time since then
     * @param methods the methods whose calls were bad
     * @param calls the calls of the window that the diagnosis looks at, at most the last minute
     * @param late those that took longer than the target
     * @param hung calls that run for more than ten targets now
     * @param usualP99Ms -1 if it is not known
     */
    public record Miss(
            Instant since,
            long seconds,
            List<String> methods,
            double targetMs,
            long calls,
            long late,
            long failed,
            long refused,
            int hung,
            double p99Ms,
            double usualP99Ms) {

        public Miss {
            methods = List.copyOf(methods);
        }
    }

    static Diagnosis calm(State state, String text, List<String> missing) {
        return new Diagnosis(state, text, null, List.of(), Map.of(), 0, missing);
    }
}
