package tern.rpc.serialization.json;

import java.math.BigDecimal;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.util.JsonParserDelegate;
import tools.jackson.databind.exc.MismatchedInputException;

/**
 * Rejects numbers with a fraction if the declared type is an integer type. Jackson would silently drop the fraction. A
 * number such as 2.0 is accepted.
 */
final class WholeNumbers {

    /** Reports that a number has a fraction. Like all messages about values, the message omits the number. */
    static final class FractionException extends MismatchedInputException {
        private static final long serialVersionUID = 1L;

        FractionException(JsonParser parser, Class<?> type) {
            super(parser, "a fraction", type);
        }
    }

    private WholeNumbers() {}

    /** Checks the value at the parser's current token. */
    static void check(JsonParser parser, Class<?> type) {
        if (parser.hasToken(JsonToken.VALUE_NUMBER_FLOAT) && hasFraction(parser.getDecimalValue())) {
            throw new FractionException(parser, type);
        }
    }

    private static boolean hasFraction(BigDecimal number) {
        if (number.signum() == 0 || number.scale() <= 0) {
            return false;
        }
        // If the scale is larger than the precision, the number is between -1 and 1. This check avoids costly
        // arithmetic.
        return number.scale() >= number.precision()
                || number.stripTrailingZeros().scale() > 0;
    }

    /** Returns a parser that checks the elements of an array of a primitive integer type. */
    static JsonParser elements(JsonParser parser, Class<?> type) {
        return new JsonParserDelegate(parser) {
            @Override
            public byte getByteValue() {
                check(delegate, type);
                return super.getByteValue();
            }

            @Override
            public short getShortValue() {
                check(delegate, type);
                return super.getShortValue();
            }

            @Override
            public int getIntValue() {
                check(delegate, type);
                return super.getIntValue();
            }

            @Override
            public long getLongValue() {
                check(delegate, type);
                return super.getLongValue();
            }

            @Override
            public int getValueAsInt() {
                check(delegate, type);
                return super.getValueAsInt();
            }

            @Override
            public long getValueAsLong() {
                check(delegate, type);
                return super.getValueAsLong();
            }
        };
    }
}
