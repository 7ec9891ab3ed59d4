package garden.run;

import java.util.regex.Pattern;

/**
 * What is wrong, in words that a fair answer may use.
 *
 * @param kind kind of the cause
 * @param place where it is
 * @param change what the change has to say
 * @param forbidden what the change must not say, such as a property that cannot help; never matches if there is none
 */
record Truth(Pattern kind, Pattern place, Pattern change, Pattern forbidden) {

    static Truth of(String kind, String place, String change, String forbidden) {
        return new Truth(pattern(kind), pattern(place), pattern(change), pattern(forbidden));
    }

    private static Pattern pattern(String text) {
        return Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    }

    /** Whether a cause is this one: its title has the kind, and title, change or evidence have the place. */
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
