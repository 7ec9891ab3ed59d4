package tern.rpc;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses durations such as {@code 500ms}, {@code 2s} and {@code 1m}. */
final class Durations {

    private static final Pattern FORM = Pattern.compile("(\\d{1,9})\\s*(ms|s|m|h)");

    private Durations() {}

    /**
     * @param where the beginning of the exception's message
     */
    static Duration parsePositive(String where, String text) {
        Matcher form = FORM.matcher(text.trim());
        if (!form.matches() || Long.parseLong(form.group(1)) == 0) {
            throw new IllegalArgumentException(
                    where + " is '" + text + "'; expected a number above 0 with a unit, such as 500ms, 2s or 1m");
        }
        long number = Long.parseLong(form.group(1));
        return switch (form.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            default -> Duration.ofHours(number);
        };
    }
}
