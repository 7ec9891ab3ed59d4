package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import org.springframework.util.unit.DataSize;
import tern.rpc.transport.Token;

/** Refuses values out of range with a message that names property, value and range. */
public final class PropertyCheck {

    private static final String[] UNITS = {"B", "KB", "MB", "GB"};

    private PropertyCheck() {}

    public static int between(String property, int value, int least, int most) {
        if (value < least || value > most) {
            throw new InvalidPropertyException(property, value, least + " to " + most);
        }
        return value;
    }

    public static int atLeast(String property, int value, int least) {
        if (value < least) {
            throw new InvalidPropertyException(property, value, least + " or more");
        }
        return value;
    }

    public static Duration moreThanZero(String property, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new InvalidPropertyException(property, text(value), "more than 0");
        }
        return value;
    }

    public static Duration notNegative(String property, Duration value) {
        if (value.isNegative()) {
            throw new InvalidPropertyException(property, text(value), "0 or more");
        }
        return value;
    }

    public static DataSize between(String property, DataSize value, DataSize least, DataSize most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new InvalidPropertyException(property, text(value), text(least) + " to " + text(most));
        }
        return value;
    }

    /** Checks a token. The message does not contain the token. */
    public static Token usable(String property, Token token) {
        if (!token.isUsable()) {
            throw new InvalidPropertyException(
                    property,
                    token.reveal().isEmpty() ? "empty" : "a text with spaces or characters beyond ASCII",
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

    /** The value in the notation of properties. */
    private static String text(Duration value) {
        return value.toMillis() % 1_000 == 0 ? value.toSeconds() + "s" : value.toMillis() + "ms";
    }
}
