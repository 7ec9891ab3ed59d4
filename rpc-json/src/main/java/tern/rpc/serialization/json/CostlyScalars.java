package tern.rpc.serialization.json;

import java.math.BigDecimal;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.util.JsonParserDelegate;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.ValueDeserializerModifier;
import tools.jackson.databind.deser.std.DelegatingDeserializer;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.type.ArrayType;
import tools.jackson.databind.type.LogicalType;
import tools.jackson.databind.type.ReferenceType;

/**
 * Limits scalars that are expensive to decode. If a number or time is sent as a string, Jackson matches the string
 * against a pattern before it checks any limit, and the matching takes quadratic time. Arithmetic on a decimal with a
 * huge exponent would exhaust the heap. A {@code java.lang.Class} is never decoded. The class also rejects fractions
 * for integer types ({@link WholeNumbers}) and keeps the sign of a zero ({@link NegativeZero}).
 */
final class CostlyScalars extends ValueDeserializerModifier {

    private static final long serialVersionUID = 1L;

    /** The maximum length of a time that is sent as a string. Even a time with a zone is always shorter. */
    private static final int MAX_TIME = 100;

    /**
     * The maximum number of digits before the decimal point of a time in seconds. The largest value of type long has
     * the same number of digits.
     */
    private static final int MAX_SECOND_DIGITS = 19;

    private final int digits;
    private final int textLength;

    CostlyScalars(JsonLimits limits) {
        this.digits = limits.numberDigits();
        this.textLength = Math.max(limits.numberDigits(), MAX_TIME);
    }

    @Override
    public ValueDeserializer<?> modifyDeserializer(
            DeserializationConfig config, BeanDescription.Supplier description, ValueDeserializer<?> deserializer) {
        Class<?> type = description.getBeanClass();
        if (type == Class.class) {
            return new Refused(deserializer);
        }
        LogicalType kind = deserializer.logicalType();
        boolean whole = kind == LogicalType.Integer && type != Number.class;
        boolean number = kind == LogicalType.Float || whole || type == Number.class;
        return number || kind == LogicalType.DateTime
                ? new Bounded(deserializer, digits, textLength, whole ? type : null)
                : deserializer;
    }

    /** Handles the types in {@link OptionalNumbers}. Jackson treats these types as reference types. */
    @Override
    public ValueDeserializer<?> modifyReferenceDeserializer(
            DeserializationConfig config,
            ReferenceType type,
            BeanDescription.Supplier description,
            ValueDeserializer<?> deserializer) {
        Class<?> raw = type.getRawClass();
        boolean whole = raw == OptionalInt.class || raw == OptionalLong.class;
        return whole || raw == OptionalDouble.class
                ? new Bounded(deserializer, digits, textLength, whole ? raw : null)
                : deserializer;
    }

    @Override
    public ValueDeserializer<?> modifyArrayDeserializer(
            DeserializationConfig config,
            ArrayType type,
            BeanDescription.Supplier description,
            ValueDeserializer<?> deserializer) {
        Class<?> element = type.getContentType().getRawClass();
        if (element == double.class || element == float.class) {
            return new BoundedElements(deserializer, textLength);
        }
        boolean whole =
                element == byte.class || element == short.class || element == int.class || element == long.class;
        return whole ? new WholeElements(deserializer, element) : deserializer;
    }

    private static void checkText(int length, int limit) {
        if (length > limit) {
            throw new StreamConstraintsException(
                    "a text of " + length + " characters; at most " + limit + " are read as a number or a time");
        }
    }

    /**
     * Rejects a time in seconds that is out of range or has a huge exponent. Jackson would decode it as a time in 1970.
     */
    private static void checkTime(BigDecimal seconds, int digits) {
        boolean large = seconds.signum() != 0 && (long) seconds.precision() - seconds.scale() > MAX_SECOND_DIGITS;
        if (large || seconds.scale() > digits) {
            throw new StreamConstraintsException("a number that is out of the range of a time in seconds");
        }
    }

    /**
     * Rejects a number that is too large for its type and was therefore decoded as infinity. A string without digits
     * that represents infinity is accepted.
     */
    private static void checkInfinite(JsonParser parser) {
        if ((parser.currentToken() != null && parser.currentToken().isNumeric())
                || (parser.hasToken(JsonToken.VALUE_STRING) && hasDigit(parser.getString()))) {
            throw new StreamConstraintsException("a number that is out of the range of its type");
        }
    }

    private static boolean isInfinite(@Nullable Object value) {
        if (value instanceof OptionalDouble optional) {
            return optional.isPresent() && Double.isInfinite(optional.getAsDouble());
        }
        return value instanceof Number number
                && Double.isInfinite(number.doubleValue())
                && !(number instanceof BigDecimal);
    }

    private static boolean hasDigit(String text) {
        return text.chars().anyMatch(character -> character >= '0' && character <= '9');
    }

    private static final class Bounded extends DelegatingDeserializer {
        private final int digits;
        private final int textLength;
        private final boolean time;
        private final @Nullable Class<?> whole;

        /** @param whole the declared type of the values if it is an integer type; otherwise null */
        Bounded(ValueDeserializer<?> delegate, int digits, int textLength, @Nullable Class<?> whole) {
            super(delegate);
            this.whole = whole;
            this.time = delegate.logicalType() == LogicalType.DateTime;
            this.digits = digits;
            this.textLength = textLength;
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) {
            if (parser.hasToken(JsonToken.VALUE_STRING)) {
                checkText(parser.getStringLength(), textLength);
            }
            if (time && parser.hasToken(JsonToken.VALUE_NUMBER_FLOAT)) {
                checkTime(parser.getDecimalValue(), digits);
            }
            Object value = super.deserialize(parser, context);
            if (whole != null) {
                // Jackson has already limited the number's exponent, so this check is not expensive.
                WholeNumbers.check(parser, whole);
            }
            if (isInfinite(value)) {
                checkInfinite(parser);
            }
            if (NegativeZero.isZero(value) && NegativeZero.isAt(parser)) {
                return NegativeZero.like(value);
            }
            if (value instanceof BigDecimal decimal && (decimal.scale() > digits || decimal.scale() < -digits)) {
                parser.streamReadConstraints().validateBigIntegerScale(decimal.scale());
            }
            return value;
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> delegate) {
            return new Bounded(delegate, digits, textLength, whole);
        }
    }

    /**
     * Limits the numbers in arrays of primitive types. Jackson uses no deserializer for the elements of these arrays,
     * so {@link Bounded} cannot check the elements.
     */
    private static final class BoundedElements extends DelegatingDeserializer {
        private final int textLength;

        BoundedElements(ValueDeserializer<?> delegate, int textLength) {
            super(delegate);
            this.textLength = textLength;
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) {
            JsonParser bounded = new JsonParserDelegate(parser) {
                @Override
                public double getDoubleValue() {
                    double value = super.getDoubleValue();
                    if (Double.isInfinite(value)) {
                        checkInfinite(this);
                    }
                    return value == 0 && NegativeZero.isAt(delegate) ? -0.0 : value;
                }

                @Override
                public float getFloatValue() {
                    float value = super.getFloatValue();
                    if (Float.isInfinite(value)) {
                        checkInfinite(this);
                    }
                    return value == 0 && NegativeZero.isAt(delegate) ? -0f : value;
                }

                @Override
                public String getString() {
                    if (hasToken(JsonToken.VALUE_STRING)) {
                        checkText(getStringLength(), textLength);
                    }
                    return super.getString();
                }
            };
            return super.deserialize(bounded, context);
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> delegate) {
            return new BoundedElements(delegate, textLength);
        }
    }

    /** Rejects fractions in arrays of primitive integer types. */
    private static final class WholeElements extends DelegatingDeserializer {
        private final Class<?> element;

        WholeElements(ValueDeserializer<?> delegate, Class<?> element) {
            super(delegate);
            this.element = element;
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) {
            return super.deserialize(WholeNumbers.elements(parser, element), context);
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> delegate) {
            return new WholeElements(delegate, element);
        }
    }

    /** Rejects values of type {@code java.lang.Class}. Decoding JSON therefore never loads a class. */
    private static final class Refused extends DelegatingDeserializer {

        Refused(ValueDeserializer<?> delegate) {
            super(delegate);
        }

        @Override
        public Object deserialize(JsonParser parser, DeserializationContext context) {
            throw InvalidDefinitionException.from(
                    parser, "java.lang.Class is never read", context.constructType(Class.class));
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> delegate) {
            return new Refused(delegate);
        }
    }
}
