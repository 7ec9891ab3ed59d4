package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.java8.LocalDateHandle;
import com.alibaba.com.caucho.hessian.io.java8.LocalDateTimeHandle;
import com.alibaba.com.caucho.hessian.io.java8.LocalTimeHandle;
import com.alibaba.com.caucho.hessian.io.java8.SerializationConfig;
import java.io.IOException;
import java.lang.reflect.Field;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A frequent value of the JDK as the fields of hessian-lite's handle for it, which is not made. The handle has a number
 * among the values of the message, the value itself has none. Thread-safe.
 */
final class HandleForm<T> implements WireForm {

    private final Class<T> type;
    private final ClassDefinition definition;
    private final Part<T>[] parts;

    @SuppressWarnings("unchecked") // An array of a generic type cannot be made otherwise.
    private HandleForm(Class<T> type, Class<?> handle, List<String> names, Map<String, Part<T>> parts) {
        this.type = type;
        this.definition = new ClassDefinition(handle.getName(), names);
        this.parts = names.stream().map(parts::get).toArray(Part[]::new);
    }

    static @Nullable WireForm date(Class<?> ignored) {
        return of(
                LocalDate.class,
                LocalDateHandle.class,
                Map.of(
                        "year", (date, out) -> out.writeInt(date.getYear()),
                        "month", (date, out) -> out.writeInt(date.getMonthValue()),
                        "day", (date, out) -> out.writeInt(date.getDayOfMonth())));
    }

    static @Nullable WireForm time(Class<?> ignored) {
        return of(
                LocalTime.class,
                LocalTimeHandle.class,
                Map.of(
                        "hour", (time, out) -> out.writeInt(time.getHour()),
                        "minute", (time, out) -> out.writeInt(time.getMinute()),
                        "second", (time, out) -> out.writeInt(time.getSecond()),
                        "nano", (time, out) -> out.writeInt(time.getNano())));
    }

    static @Nullable WireForm dateTime(Class<?> ignored) {
        return of(
                LocalDateTime.class,
                LocalDateTimeHandle.class,
                Map.of(
                        "date", (at, out) -> out.writeObject(at.toLocalDate()),
                        "time", (at, out) -> out.writeObject(at.toLocalTime())));
    }

    /** Null if the handle has other fields than these, or hessian-lite is set to write none. */
    private static <T> @Nullable WireForm of(Class<T> type, Class<?> handle, Map<String, Part<T>> parts) {
        List<String> names = BeanShape.serializedFields(handle, Object.class).stream()
                .map(Field::getName)
                .toList();
        return SerializationConfig.isCompactMode() || !Set.copyOf(names).equals(parts.keySet())
                ? null
                : new HandleForm<>(type, handle, names, parts);
    }

    @Override
    public void write(Object value, HessianOutput out) throws IOException {
        out.skipRef();
        out.begin(definition);
        for (Part<T> part : parts) {
            part.write(type.cast(value), out);
        }
    }

    @FunctionalInterface
    private interface Part<T> {
        void write(T value, HessianOutput out) throws IOException;
    }
}
