package tern.rpc.serialization.json;

import java.time.LocalDate;
import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.ext.javatime.ser.LocalDateSerializer;
import tools.jackson.databind.ext.javatime.ser.LocalDateTimeSerializer;
import tools.jackson.databind.jsonFormatVisitors.JsonFormatVisitorWrapper;
import tools.jackson.databind.jsontype.TypeSerializer;
import tools.jackson.databind.ser.ValueSerializerModifier;

/** Encodes dates and times with {@link PlainTime} wherever Jackson would use its default form. */
final class PlainTimesWritten extends ValueSerializerModifier {

    private static final long serialVersionUID = 1L;

    @Override
    public ValueSerializer<?> modifySerializer(
            SerializationConfig config, BeanDescription.Supplier description, ValueSerializer<?> serializer) {
        if (serializer == LocalDateSerializer.INSTANCE) {
            return new Dates(LocalDateSerializer.INSTANCE);
        }
        return serializer == LocalDateTimeSerializer.INSTANCE
                        && !config.isEnabled(DateTimeFeature.TRUNCATE_TO_MSECS_ON_WRITE)
                ? new DateTimes(LocalDateTimeSerializer.INSTANCE)
                : serializer;
    }

    /**
     * A serializer that writes the values of one type itself. For all other purposes, it delegates to Jackson's
     * serializer.
     */
    private abstract static class Written<T> extends ValueSerializer<T> {

        final ValueSerializer<T> delegate;

        Written(ValueSerializer<T> delegate) {
            this.delegate = delegate;
        }

        @Override
        public ValueSerializer<?> createContextual(SerializationContext context, @Nullable BeanProperty property) {
            return PlainTime.isWanted(context, property, handledType())
                    ? this
                    : delegate.createContextual(context, property);
        }

        @Override
        public void serializeWithType(
                T value, JsonGenerator generator, SerializationContext context, TypeSerializer type) {
            delegate.serializeWithType(value, generator, context, type);
        }

        @Override
        public Class<?> handledType() {
            return delegate.handledType();
        }

        @Override
        public ValueSerializer<?> getDelegatee() {
            return delegate;
        }

        @Override
        public boolean isEmpty(SerializationContext context, T value) {
            return delegate.isEmpty(context, value);
        }

        @Override
        public void acceptJsonFormatVisitor(JsonFormatVisitorWrapper visitor, JavaType type) {
            delegate.acceptJsonFormatVisitor(visitor, type);
        }
    }

    private static final class Dates extends Written<LocalDate> {

        Dates(ValueSerializer<LocalDate> delegate) {
            super(delegate);
        }

        @Override
        public void serialize(LocalDate value, JsonGenerator generator, SerializationContext context) {
            if (PlainTime.fits(value)) {
                char[] text = new char[PlainTime.MAX_LENGTH];
                generator.writeString(text, 0, PlainTime.write(value, text));
            } else {
                delegate.serialize(value, generator, context);
            }
        }
    }

    private static final class DateTimes extends Written<LocalDateTime> {

        DateTimes(ValueSerializer<LocalDateTime> delegate) {
            super(delegate);
        }

        @Override
        public void serialize(LocalDateTime value, JsonGenerator generator, SerializationContext context) {
            if (PlainTime.fits(value.toLocalDate())) {
                char[] text = new char[PlainTime.MAX_LENGTH];
                generator.writeString(text, 0, PlainTime.write(value, text));
            } else {
                delegate.serialize(value, generator, context);
            }
        }
    }
}
