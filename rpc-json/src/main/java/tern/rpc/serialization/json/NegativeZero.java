package tern.rpc.serialization.json;

import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Keeps the sign of the JSON number -0 if the declared type has a negative zero. Without this class, the sign would be
 * lost, because Jackson reads a number without a fraction as an integer.
 */
final class NegativeZero {

    private NegativeZero() {}

    /** Returns whether the value is a floating-point zero. */
    static boolean isZero(@Nullable Object value) {
        return (value instanceof Double number && number == 0)
                || (value instanceof Float single && single == 0)
                || (value instanceof OptionalDouble optional && optional.isPresent() && optional.getAsDouble() == 0);
    }

    /** Returns whether the parser's current token is an integer with a minus sign. */
    static boolean isAt(JsonParser parser) {
        return parser.hasToken(JsonToken.VALUE_NUMBER_INT) && parser.getString().startsWith("-");
    }

    /** Returns a negative zero of the same type as the given zero. */
    static Object like(@Nullable Object zero) {
        if (zero instanceof Float) {
            return -0f;
        }
        return zero instanceof OptionalDouble ? OptionalDouble.of(-0.0) : (Object) (-0.0);
    }
}
