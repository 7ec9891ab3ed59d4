package garden.run;

import java.util.regex.Pattern;

/**
 * The true cause of a fault, as patterns that a correct diagnosis matches.
 *
 * @param kind matches the kind of the cause
 * @param place matches the place of the cause
 * @param change matches the recommended change
 * @param forbidden matches harmful changes, such as a property that has no effect on the fault; matches nothing if no
 *     change is harmful
 */
record Truth(Pattern kind, Pattern place, Pattern change, Pattern forbidden) {

    static Truth of(String kind, String place, String change, String forbidden) {
        return new Truth(pattern(kind), pattern(place), pattern(change), pattern(forbidden));
    }

    private static Pattern pattern(String text) {
        return Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    }

    /**
     * Returns whether a diagnosed cause is this true cause. The diagnosed cause's title must match the kind, and at
     * least one of its texts must match the place of the true cause.
     */
    boolean isNamedBy(Answer.Found cause) {
        return kind.matcher(cause.title()).find() && place.matcher(cause.all()).find();
    }

    boolean isChangedBy(Answer.Found cause) {
        return change.matcher(cause.change()).find() && !isHarmedBy(cause);
    }

    boolean isHarmedBy(Answer.Found cause) {
        return forbidden.matcher(cause.change()).find();
    }
}
