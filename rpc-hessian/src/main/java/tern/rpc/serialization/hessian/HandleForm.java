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
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes a frequently used JDK value with the fields of hessian-lite's handle class, without creating a handle object.
 * In the message, the handle gets a reference number, but the value itself does not. Thread-safe.
 */
final class HandleForm implements WireForm {

    /** The fields of hessian-lite's handle classes, with their names in messages. */
    private enum Part {
        YEAR,
        MONTH,
        DAY,
        HOUR,
        MINUTE,
        SECOND,
        NANO,
        DATE,
        TIME;

        static @Nullable Part named(String field) {
            for (Part part : values()) {
                if (part.name().toLowerCase(Locale.ROOT).equals(field)) {
                    return part;
                }
            }
            return null;
        }
    }

    private static final Set<Part> OF_DATE = EnumSet.of(Part.YEAR, Part.MONTH, Part.DAY);
    private static final Set<Part> OF_TIME = EnumSet.of(Part.HOUR, Part.MINUTE, Part.SECOND, Part.NANO);
    private static final Set<Part> OF_BOTH = EnumSet.of(Part.DATE, Part.TIME);

    private final ClassDefinition definition;
    private final Part[] parts;
    private final LastForm date = new LastForm();
    private final LastForm time = new LastForm();

    private HandleForm(Class<?> handle, List<String> names, Part[] parts) {
        this.definition = new ClassDefinition(handle.getName(), names);
        this.parts = parts;
    }

    static @Nullable WireForm date(Class<?> ignored) {
        return of(LocalDateHandle.class, OF_DATE);
    }

    static @Nullable WireForm time(Class<?> ignored) {
        return of(LocalTimeHandle.class, OF_TIME);
    }

    static @Nullable WireForm dateTime(Class<?> ignored) {
        return of(LocalDateTimeHandle.class, OF_BOTH);
    }

    /**
     * Returns the {@link WireForm} that writes values as instances of hessian-lite's handle class. Returns null if the
     * handle class does not have the expected fields, or if hessian-lite is configured not to write handles.
     */
    private static @Nullable WireForm of(Class<?> handle, Set<Part> expected) {
        List<String> names = BeanShape.serializedFields(handle, Object.class).stream()
                .map(Field::getName)
                .toList();
        List<Part> parts =
                names.stream().map(Part::named).filter(expected::contains).toList();
        return SerializationConfig.isCompactMode() || parts.size() != names.size() || parts.size() != expected.size()
                ? null
                : new HandleForm(handle, names, parts.toArray(Part[]::new));
    }

    @Override
    public void write(Object value, HessianOutput out) throws IOException {
        out.skipRef();
        out.begin(definition);
        for (Part part : parts) {
            switch (part) {
                case YEAR -> out.writeInt(((LocalDate) value).getYear());
                case MONTH -> out.writeInt(((LocalDate) value).getMonthValue());
                case DAY -> out.writeInt(((LocalDate) value).getDayOfMonth());
                case HOUR -> out.writeInt(((LocalTime) value).getHour());
                case MINUTE -> out.writeInt(((LocalTime) value).getMinute());
                case SECOND -> out.writeInt(((LocalTime) value).getSecond());
                case NANO -> out.writeInt(((LocalTime) value).getNano());
                case DATE -> out.writeObject(((LocalDateTime) value).toLocalDate(), date);
                case TIME -> out.writeObject(((LocalDateTime) value).toLocalTime(), time);
            }
        }
    }
}
