package tern.rpc.load.peer;

import com.caucho.hessian.io.AbstractDeserializer;
import com.caucho.hessian.io.AbstractHessianInput;
import com.caucho.hessian.io.AbstractHessianOutput;
import com.caucho.hessian.io.AbstractSerializer;
import com.caucho.hessian.io.AbstractSerializerFactory;
import com.caucho.hessian.io.Deserializer;
import com.caucho.hessian.io.Serializer;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Adds support for dates, times and records to Caucho's Hessian. Hessian sets fields by reflection, which these types
 * forbid. Each date or time is sent as one number.
 */
final class HessianValues extends AbstractSerializerFactory {

    @Override
    @SuppressWarnings("rawtypes") // Hessian declares the parameter with a raw type.
    public @Nullable Serializer getSerializer(Class type) {
        if (type == LocalDate.class) {
            return new NumberSerializer<LocalDate>(LocalDate::toEpochDay);
        }
        if (type == LocalDateTime.class) {
            return new NumberSerializer<LocalDateTime>(time -> time.toEpochSecond(ZoneOffset.UTC));
        }
        return type.isRecord() ? new RecordSerializer(type.getRecordComponents()) : null;
    }

    @Override
    @SuppressWarnings("rawtypes") // Hessian declares the parameter with a raw type.
    public @Nullable Deserializer getDeserializer(Class type) {
        if (type == LocalDate.class) {
            return new NumberDeserializer(type, LocalDate::ofEpochDay);
        }
        if (type == LocalDateTime.class) {
            return new NumberDeserializer(type, seconds -> LocalDateTime.ofEpochSecond(seconds, 0, ZoneOffset.UTC));
        }
        return type.isRecord() ? new RecordDeserializer(type) : null;
    }

    private static final class NumberSerializer<T> extends AbstractSerializer {

        private final ToLongFunction<T> number;

        NumberSerializer(ToLongFunction<T> number) {
            this.number = number;
        }

        @Override
        protected void writeDefinition20(Class<?> type, AbstractHessianOutput out) throws IOException {
            out.writeClassFieldLength(1);
            out.writeString("number");
        }

        @Override
        // The factory creates this serializer for a single class and uses it only for objects of that class.
        @SuppressWarnings("unchecked")
        protected void writeInstance(Object value, AbstractHessianOutput out) throws IOException {
            out.writeLong(number.applyAsLong((T) value));
        }
    }

    private static final class NumberDeserializer extends AbstractDeserializer {

        private final Class<?> type;
        private final LongFunction<Object> value;

        NumberDeserializer(Class<?> type, LongFunction<Object> value) {
            this.type = type;
            this.value = value;
        }

        @Override
        public Class<?> getType() {
            return type;
        }

        @Override
        public Object readObject(AbstractHessianInput in, Object[] fields) throws IOException {
            int ref = in.addRef(null);
            Object read = value.apply(in.readLong());
            in.setRef(ref, read);
            return read;
        }
    }

    private static final class RecordSerializer extends AbstractSerializer {

        private final List<RecordComponent> components;

        RecordSerializer(RecordComponent[] components) {
            this.components = List.of(components);
        }

        @Override
        protected void writeDefinition20(Class<?> type, AbstractHessianOutput out) throws IOException {
            out.writeClassFieldLength(components.size());
            for (RecordComponent component : components) {
                out.writeString(component.getName());
            }
        }

        @Override
        protected void writeInstance(Object value, AbstractHessianOutput out) throws IOException {
            for (RecordComponent component : components) {
                try {
                    out.writeObject(component.getAccessor().invoke(value));
                } catch (ReflectiveOperationException e) {
                    throw new IOException(component + " cannot be read", e);
                }
            }
        }
    }

    /** Reads records. The writer's record class must have the same components in the same order. */
    private static final class RecordDeserializer extends AbstractDeserializer {

        private final Constructor<?> constructor;

        RecordDeserializer(Class<?> type) {
            try {
                constructor = type.getDeclaredConstructor(Arrays.stream(type.getRecordComponents())
                        .map(RecordComponent::getType)
                        .toArray(Class<?>[]::new));
            } catch (NoSuchMethodException e) {
                throw new IllegalArgumentException(type + " has no constructor of its components", e);
            }
        }

        @Override
        public Class<?> getType() {
            return constructor.getDeclaringClass();
        }

        @Override
        public Object readObject(AbstractHessianInput in, Object[] fields) throws IOException {
            int ref = in.addRef(null);
            Object[] values = new Object[fields.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = in.readObject(constructor.getParameterTypes()[i]);
            }
            try {
                Object read = constructor.newInstance(values);
                in.setRef(ref, read);
                return read;
            } catch (ReflectiveOperationException e) {
                throw new IOException(constructor + " failed", e);
            }
        }
    }
}
