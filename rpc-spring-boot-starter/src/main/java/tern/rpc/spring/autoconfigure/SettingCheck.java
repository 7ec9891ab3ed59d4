package tern.rpc.spring.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.transport.Token;

/**
 * Rejects invalid sizes and tokens, and reads blank texts. The error message for a size contains the property, the
 * value and the valid range.
 */
final class SettingCheck {

    private static final String[] UNITS = {"B", "KB", "MB", "GB"};

    /** The maximum value of a memory budget, which is larger than the memory of any machine. */
    private static final DataSize MOST = DataSize.ofGigabytes(1_024);

    private SettingCheck() {}

    static DataSize between(String property, DataSize value, DataSize least, DataSize most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new InvalidPropertyException(property, text(value), text(least) + " to " + text(most));
        }
        return value;
    }

    /**
     * Checks a size whose minimum is the value of another property. The error message names the other property, because
     * the application may have set only the other property.
     */
    static DataSize atLeast(String property, DataSize value, String other, DataSize least) {
        if (value.compareTo(least) < 0) {
            throw new InvalidPropertyException(
                    property,
                    property + " is " + text(value) + "; expected " + text(least) + " or more, because " + other
                            + " is " + text(least),
                    "Set " + property + " to " + text(least) + " or more, or " + other + " to a smaller size.",
                    null);
        }
        return between(property, value, least, MOST);
    }

    /**
     * Returns the text without white space around it; null if the text is blank. A blank text counts as not set,
     * because it is often an unset variable, as in {@code ${ZONE:}}.
     */
    static @Nullable String blankToNull(@Nullable String text) {
        return text == null || text.isBlank() ? null : text.trim();
    }

    /** Checks a token. The error message does not contain the token. */
    static Token usable(String property, Token token) {
        return usable(property, "", token);
    }

    /**
     * @param place the position of the token in a list, for the error message; can be empty
     */
    static Token usable(String property, String place, Token token) {
        if (!token.isUsable()) {
            throw new InvalidPropertyException(
                    property,
                    (token.reveal().isEmpty() ? "empty" : "a text with spaces or characters beyond ASCII") + place,
                    "visible characters of ASCII");
        }
        return token;
    }

    private static String text(DataSize value) {
        long bytes = value.toBytes();
        int unit = 0;
        while (bytes != 0 && bytes % 1_024 == 0 && unit < UNITS.length - 1) {
            bytes /= 1_024;
            unit++;
        }
        return bytes + UNITS[unit];
    }
}
