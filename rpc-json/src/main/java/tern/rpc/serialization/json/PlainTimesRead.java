package tern.rpc.serialization.json;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.deser.ValueDeserializerModifier;
import tools.jackson.databind.deser.std.DelegatingDeserializer;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.ext.javatime.deser.InstantDeserializer;
import tools.jackson.databind.ext.javatime.deser.LocalDateDeserializer;
import tools.jackson.databind.ext.javatime.deser.LocalDateTimeDeserializer;

/**
 * Decodes dates and times with {@link PlainTime} wherever Jackson would use its default form, and rejects times in
 * milliseconds if Jackson would read them as seconds. Jackson decodes all other values.
 */
final class PlainTimesRead extends ValueDeserializerModifier {

    private static final long serialVersionUID = 1L;

    @Override
    public ValueDeserializer<?> modifyDeserializer(
            DeserializationConfig config, BeanDescription.Supplier description, ValueDeserializer<?> deserializer) {
        if (deserializer == LocalDateDeserializer.INSTANCE) {
            return new Reading(deserializer, PlainTime::date);
        }
        if (deserializer instanceof InstantDeserializer<?>
                && config.isEnabled(DateTimeFeature.READ_DATE_TIMESTAMPS_AS_NANOSECONDS)) {
            return new Seconds(deserializer);
        }
        return deserializer == LocalDateTimeDeserializer.INSTANCE
                        && !config.isEnabled(DateTimeFeature.TRUNCATE_TO_MSECS_ON_READ)
                ? new Reading(deserializer, PlainTime::dateTime)
                : deserializer;
    }

    /**
     * Reports that a time is given in milliseconds, although Jackson reads the number as seconds. The message omits the
     * number.
     */
    static final class MillisecondsException extends MismatchedInputException {
        private static final long serialVersionUID = 1L;

        MillisecondsException(JsonParser parser, Class<?> type) {
            super(parser, "milliseconds", type);
        }
    }

    /**
     * Decodes values without a configured format. If a property or its type sets a format, Jackson decodes the value.
     */
    private abstract static class WithoutFormat extends DelegatingDeserializer {

        WithoutFormat(ValueDeserializer<?> delegate) {
            super(delegate);
        }

        @Override
        public ValueDeserializer<?> createContextual(DeserializationContext context, @Nullable BeanProperty property) {
            // If a format is set, Jackson decodes the value, because the format may declare numbers as milliseconds.
            return PlainTime.isWanted(context, property, handledType())
                    ? this
                    : getDelegatee().createContextual(context, property);
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> delegate) {
            return delegate;
        }
    }

    /**
     * Rejects a number of seconds after the year 9999. Such a number is probably a JavaScript time in milliseconds, and
     * would otherwise be decoded as a time in the distant future.
     */
    private static final class Seconds extends WithoutFormat {
        private static final long MAX_SECONDS = 253_402_300_799L;

        /** The number of digits of a time in milliseconds, for all times from 2001 to 2286. */
        private static final int MIN_DIGITS = 13;

        Seconds(ValueDeserializer<?> delegate) {
            super(delegate);
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) {
            if (isTooLarge(parser)) {
                throw new MillisecondsException(parser, handledType());
            }
            return super.deserialize(parser, context);
        }

        /** Returns whether the value is probably a number of milliseconds. In a query, the number is a string. */
        private static boolean isTooLarge(JsonParser parser) {
            if (parser.hasToken(JsonToken.VALUE_NUMBER_INT)) {
                return parser.getNumberType() == JsonParser.NumberType.LONG && parser.getLongValue() > MAX_SECONDS;
            }
            if (!parser.hasToken(JsonToken.VALUE_STRING) || parser.getStringLength() < MIN_DIGITS) {
                return false;
            }
            char[] text = parser.getStringCharacters();
            for (int i = parser.getStringOffset(), end = i + parser.getStringLength(); i < end; i++) {
                if (text[i] < '0' || text[i] > '9') {
                    return false;
                }
            }
            return true;
        }
    }

    @FunctionalInterface
    private interface Form {
        @Nullable
        Object read(char[] text, int from, int length);
    }

    private static final class Reading extends WithoutFormat {
        private final Form form;

        Reading(ValueDeserializer<?> delegate, Form form) {
            super(delegate);
            this.form = form;
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) {
            if (parser.hasToken(JsonToken.VALUE_STRING)) {
                Object plain =
                        form.read(parser.getStringCharacters(), parser.getStringOffset(), parser.getStringLength());
                if (plain != null) {
                    return plain;
                }
            }
            return super.deserialize(parser, context);
        }
    }
}
