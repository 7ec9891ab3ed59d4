package tern.rpc.diagnosis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.cause.Cause;

/**
 * Describes whether an application's calls miss their latency target, and why.
 *
 * @param state whether calls miss the target
 * @param text the diagnosis in readable form
 * @param miss the missed target; null unless the state is {@link State#MISS}
 * @param causes the causes, most expensive first; not empty if the state is {@link State#MISS}, otherwise empty
 * @param accountMs the mean time of a late or failed call by activity or wait in milliseconds, the longest first; the
 *     values add up to the call's total time
 * @param unexplainedMs the time that no evidence explains, in milliseconds
 * @param missing the evidence that the operating system does not provide
 * @param refusedOrFailed why calls were refused or failed in the last minute although calls meet the target, one line
 *     for each reason; empty if the state is not {@link State#HEALTHY}
 */
public record Diagnosis(
        State state,
        String text,
        @Nullable Miss miss,
        List<Cause> causes,
        Map<String, Double> accountMs,
        double unexplainedMs,
        List<String> missing,
        List<String> refusedOrFailed) {

    public Diagnosis {
        causes = List.copyOf(causes);
        accountMs = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(accountMs));
        missing = List.copyOf(missing);
        refusedOrFailed = List.copyOf(refusedOrFailed);
    }

    /** The state of an application's calls. */
    public enum State {
        /** Too few calls have ended to decide whether calls meet the latency target. */
        QUIET,
        /** Calls meet the latency target. */
        HEALTHY,
        /** Calls miss the latency target, fail or are refused. */
        MISS
    }

    /**
     * A period in which calls miss the latency target.
     *
     * @param since the beginning of this period
     * @param seconds the duration of this period so far
     * @param methods the methods with late or failed calls
     * @param calls the number of calls in the diagnosed period, which is at most the last minute
     * @param late the number of calls that took longer than the target
     * @param hung the number of running calls that have taken more than ten times the target so far
     * @param usualP99Ms the usual 99th percentile of the calls' times in milliseconds; -1 if unknown
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

    /** Creates the diagnosis of calls that miss the target. */
    static Diagnosis ofMiss(
            String text,
            Miss miss,
            List<Cause> causes,
            Map<String, Double> accountMs,
            double unexplainedMs,
            List<String> missing) {
        return new Diagnosis(State.MISS, text, miss, causes, accountMs, unexplainedMs, missing, List.of());
    }

    /** Creates the diagnosis before enough calls have ended. */
    static Diagnosis quiet() {
        return calm(State.QUIET, "QUIET: fewer than 60 seconds with calls so far; too few for a diagnosis\n");
    }

    /** Creates the diagnosis of calls that meet the target. */
    static Diagnosis healthy(Duration target) {
        return calm(State.HEALTHY, "HEALTHY: calls are within the target of " + target.toMillis() + " ms\n");
    }

    private static Diagnosis calm(State state, String text) {
        return new Diagnosis(state, text, null, List.of(), Map.of(), 0, List.of(), List.of());
    }

    /** Returns a copy of this diagnosis with an additional line of text. */
    Diagnosis withNote(String line) {
        return withText(text + "  " + line + "\n");
    }

    /** Returns a copy of this diagnosis with the reasons why calls were refused or failed in the last minute. */
    Diagnosis withRefusedOrFailed(List<String> lines) {
        StringBuilder all = new StringBuilder(text);
        lines.forEach(line -> all.append("  ").append(line).append('\n'));
        return new Diagnosis(state, all.toString(), miss, causes, accountMs, unexplainedMs, missing, lines);
    }

    private Diagnosis withText(String changed) {
        return new Diagnosis(state, changed, miss, causes, accountMs, unexplainedMs, missing, refusedOrFailed);
    }

    /** Returns a copy of this diagnosis whose first line contains the age of the causes. */
    Diagnosis seenBefore(long seconds) {
        return withText(text.replaceFirst("^(MISS since \\S+ \\(\\d+ s\\)) ", "$1, seen " + seconds + " s ago: "));
    }

    /**
     * Returns a copy of this calm diagnosis whose first line says that the current state is unknown, and how old the last
     * known state is.
     */
    Diagnosis lastKnown(long seconds) {
        return withText("UNKNOWN: this process gets too little processor time to check its calls; " + seconds
                + " s ago, " + text);
    }
}
