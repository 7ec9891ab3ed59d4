package tern.rpc.diagnosis;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A cause of a missed target.
 *
 * @param kind the kind of the cause in capitals, such as {@code NOT GIVEN BACK}
 * @param name the culprit: a pool, a frame, a statement or a peer
 * @param ms the time that this cause adds to a bad call, in milliseconds
 * @param ofMs the time that all causes add to a bad call, in milliseconds
 * @param saves the share of bad calls that would be in time without it, 0 to 1
 * @param certainMs the part of {@code ms} that is certain, given the number of samples
 * @param evidence facts in short lines, each beginning with a word that names it
 * @param changed the figures that changed, that are new and that stayed the same since the miss began, in lines of the
 *     same form
 * @param symptoms consequences of the cause, such as a full pool
 * @param acquitted suspects that are ruled out, with the reason
 */
public record Cause(
        String kind,
        String name,
        double ms,
        double ofMs,
        double saves,
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

    /** The place where a change has to be made. */
    public enum Where {
        CODE,
        STATEMENT,
        PEER,
        MACHINE,
        PROPERTY,
        /** The evidence suggests no change. */
        UNKNOWN
    }

    /**
     * The advised change.
     *
     * @param property the property to set; null unless a property is to be changed
     * @param from its current value
     * @param to the value to set, which the library accepts
     * @param expectedP99Ms the expected time within which 99 of 100 calls end after the change; -1 if unknown
     */
    public record Change(
            Where where,
            String text,
            @Nullable String property,
            @Nullable String from,
            @Nullable String to,
            double expectedP99Ms) {

        static Change of(Where where, String text) {
            return new Change(where, text, null, null, null, -1);
        }
    }
}
