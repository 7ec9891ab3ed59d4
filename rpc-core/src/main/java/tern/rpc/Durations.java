package tern.rpc;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses durations such as {@code 500ms}, {@code 2s} and {@code 1m}, and rejects durations that are out of range. An
 * accepted duration can be added to a time in nanoseconds without overflowing a {@code long}.
 */
public final class Durations {

    /** The maximum of all timeouts and waits. A {@code long} can hold about 292 years in nanoseconds. */
    public static final Duration MAX_DURATION = Duration.ofDays(36_500);

    /** Describes {@link #MAX_DURATION} in error messages. */
    public static final String MAX_TEXT = "at most 36500d (100 years)";

    private static final Pattern FORM = Pattern.compile("(\\d{1,9})\\s*(ms|s|m|h|d|)");

    private Durations() {}

    /**
     * @throws IllegalArgumentException if the duration is zero, negative or too long; the message begins with the given
     *     name
     */
    public static Duration moreThanZero(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + " is " + value + "; expected more than 0");
        }
        return limited(name, value);
    }

    /**
     * @throws IllegalArgumentException if the duration is negative or too long; the message begins with the given name
     */
    public static Duration notNegative(String name, Duration value) {
        if (value.isNegative()) {
            throw new IllegalArgumentException(name + " is " + value + "; expected 0 or more");
        }
        return limited(name, value);
    }

    private static Duration limited(String name, Duration value) {
        if (value.compareTo(MAX_DURATION) > 0) {
            throw new IllegalArgumentException(name + " is " + value + "; expected " + MAX_TEXT);
        }
        return value;
    }

    /**
     * Parses a duration. A number without a unit is in milliseconds.
     *
     * @param where the beginning of the exception's message
     */
    static Duration parsePositive(String where, String text) {
        Matcher form = FORM.matcher(text.trim());
        if (!form.matches() || Long.parseLong(form.group(1)) == 0) {
            throw new IllegalArgumentException(
                    where + " is '" + text + "'; expected a number above 0 with a unit, such as 500ms, 2s or 1m");
        }
        long number = Long.parseLong(form.group(1));
        Duration parsed = switch (form.group(2)) {
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            case "d" -> Duration.ofDays(number);
            default -> Duration.ofMillis(number);
        };
        return limited(where, parsed);
    }
}
