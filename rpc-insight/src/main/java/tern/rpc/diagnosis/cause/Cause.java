package tern.rpc.diagnosis.cause;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A cause of a missed latency target.
 *
 * @param kind the kind of the cause in capitals, such as {@code NOT GIVEN BACK}
 * @param name the pool, stack frame, statement or peer that is responsible
 * @param ms the time that this cause adds to a late or failed call on average, in milliseconds
 * @param ofMs the time that all causes together add to a late or failed call on average, in milliseconds
 * @param saves the share (from 0 to 1) of late or failed calls that would meet the target without this cause
 * @param ofFailures the share of the failed and refused calls that failed or were refused because of this cause, if
 *     most of {@code ms} was added for failures; otherwise 0. Each failed or refused call counts as ten times the
 *     latency target
 * @param certainMs a statistically certain lower bound on {@code ms}, given the number of samples
 * @param evidence the facts, one per short line; the first word of each line names its subject
 * @param changed the values that have changed, are new or have stayed the same since calls began to miss the latency
 *     target, one per line as in {@code evidence}
 * @param symptoms consequences of the cause, such as a full pool
 * @param acquitted other possible causes that the evidence rules out, each with the reason
 */
public record Cause(
        String kind,
        String name,
        double ms,
        double ofMs,
        double saves,
        double ofFailures,
        double certainMs,
        Change change,
        List<String> evidence,
        List<String> changed,
        List<String> symptoms,
        List<String> acquitted) {

    public Cause {
        evidence = List.copyOf(evidence);
        changed = List.copyOf(changed);
        symptoms = List.copyOf(symptoms);
        acquitted = List.copyOf(acquitted);
    }

    /**
     * Returns the kind and the name in one line. If the kind begins with COLLECTOR and already contains the name,
     * returns only the kind.
     */
    public String title() {
        boolean contains =
                kind.startsWith("COLLECTOR") && kind.toLowerCase(Locale.ROOT).contains(name);
        return contains ? kind : kind + ": " + name;
    }

    /** The place where the recommended change must be made. */
    public enum Where {
        CODE,
        STATEMENT,
        PEER,
        MACHINE,
        PROPERTY,
        /** The evidence does not show where a change is needed. */
        UNKNOWN
    }

    /**
     * The recommended change.
     *
     * @param property the property to set; null if the recommended change does not set a property
     * @param from the current value of the property
     * @param to the value to set; the library accepts this value
     * @param expectedP99Ms the expected 99th percentile of call times after the change, in milliseconds; -1 if unknown
     */
    public record Change(
            Where where,
            String text,
            @Nullable String property,
            @Nullable String from,
            @Nullable String to,
            double expectedP99Ms) {

        public static Change of(Where where, String text) {
            return new Change(where, text, null, null, null, -1);
        }
    }
}
