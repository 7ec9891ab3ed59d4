package tern.rpc.settings;

import java.time.Duration;
import tern.rpc.Durations;

/** Rejects property values that are out of range. The message contains the property, its value and the valid range. */
public final class PropertyCheck {

    private PropertyCheck() {}

    public static int between(String property, int value, int min, int max) {
        if (value < min || value > max) {
            throw new InvalidPropertyException(property, value, min + " to " + max);
        }
        return value;
    }

    public static int atLeast(String property, int value, int min) {
        if (value < min) {
            throw new InvalidPropertyException(property, value, min + " or more");
        }
        return value;
    }

    public static Duration moreThanZero(String property, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new InvalidPropertyException(property, text(value), "more than 0");
        }
        return limited(property, value);
    }

    /**
     * Checks the timeout of a call. The value 0 is rejected. In other frameworks, 0 means that a call has no timeout.
     */
    public static Duration callTimeout(String property, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new InvalidPropertyException(
                    property,
                    property + " is " + text(value) + "; expected more than 0, because a call always has a timeout",
                    "Set " + property + " to a longer time, such as 10m while you use a debugger, or leave it out.",
                    null);
        }
        return limited(property, value);
    }

    public static Duration notNegative(String property, Duration value) {
        if (value.isNegative()) {
            throw new InvalidPropertyException(property, text(value), "0 or more");
        }
        return limited(property, value);
    }

    /** Rejects a duration that would overflow when it is converted to nanoseconds. */
    private static Duration limited(String property, Duration value) {
        if (value.compareTo(Durations.MAX_DURATION) > 0) {
            throw new InvalidPropertyException(property, text(value), Durations.MAX_TEXT);
        }
        return value;
    }

    /** Returns the duration as it is written in properties, such as {@code 500ms}. */
    public static String text(Duration value) {
        // The number of milliseconds in a very long duration does not fit into a long.
        boolean whole = value.toMillisPart() == 0 || value.compareTo(Durations.MAX_DURATION) > 0;
        return whole ? value.toSeconds() + "s" : value.toMillis() + "ms";
    }
}
