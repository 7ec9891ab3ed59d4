package tern.rpc.diagnosis;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether the calls of an application miss their target, and why.
 *
 * @param state whether calls miss the target
 * @param text the diagnosis as text for people
 * @param miss the missed target; null in a state other than {@link State#MISS}
 * @param causes the causes, the most expensive first; at least one in a miss, empty otherwise
 * @param accountMs the mean time of a bad call by part in milliseconds, the longest first; the parts sum up to the time
 *     of the call
 * @param unexplainedMs the time that no evidence explains
 * @param missing evidence that the system does not provide
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
        /** Calls meet the target. */
        HEALTHY,
        /** Calls miss the target, fail or are refused. */
        MISS
    }

    /**
     * A target that is missed.
     *
     * @param since its beginning
     * @param seconds the duration of the miss so far
     * @param methods the methods whose calls were bad
     * @param calls the calls of the window that the diagnosis looks at, at most the last minute
     * @param late the calls that took longer than the target
     * @param hung calls that run for more than ten targets now
     * @param usualP99Ms the usual 99th percentile in milliseconds; -1 if unknown
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
