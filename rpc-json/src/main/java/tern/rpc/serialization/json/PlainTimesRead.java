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
import tools.jackson.databind.ext.javatime.deser.LocalDateDeserializer;
import tools.jackson.databind.ext.javatime.deser.LocalDateTimeDeserializer;

/**
 * Decodes dates and times with {@link PlainTime} wherever Jackson would use its default form. Jackson decodes all
 * other values.
 */
final class PlainTimesRead extends ValueDeserializerModifier {

    private static final long serialVersionUID = 1L;

    @Override
    public ValueDeserializer<?> modifyDeserializer(
            DeserializationConfig config, BeanDescription.Supplier description, ValueDeserializer<?> deserializer) {
        if (deserializer == LocalDateDeserializer.INSTANCE) {
            return new Reading(deserializer, PlainTime::date);
        }
        return deserializer == LocalDateTimeDeserializer.INSTANCE
                        && !config.isEnabled(DateTimeFeature.TRUNCATE_TO_MSECS_ON_READ)
                ? new Reading(deserializer, PlainTime::dateTime)
                : deserializer;
    }

    @FunctionalInterface
    private interface Form {
        @Nullable
        Object read(char[] text, int from, int length);
    }

    private static final class Reading extends DelegatingDeserializer {
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

        @Override
        public ValueDeserializer<?> createContextual(DeserializationContext context, @Nullable BeanProperty property) {
            return PlainTime.isWanted(context, property, handledType())
                    ? this
                    : getDelegatee().createContextual(context, property);
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> delegate) {
            return delegate;
        }
    }
}
