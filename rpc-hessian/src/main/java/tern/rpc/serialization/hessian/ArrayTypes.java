package tern.rpc.serialization.hessian;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The names that Hessian 2 messages use for JDK array types, such as {@code [int}, {@code [string},
 * {@code [[java.lang.Long}. Immutable.
 */
final class ArrayTypes {

    private static final Map<String, Class<?>> COMPONENTS = components();

    private ArrayTypes() {}

    static @Nullable Class<?> component(String name) {
        return COMPONENTS.get(name);
    }

    private static Map<String, Class<?>> components() {
        Map<String, Class<?>> components = new HashMap<>(Map.of(
                "boolean", boolean.class,
                "byte", byte.class,
                "char", char.class,
                "short", short.class,
                "int", int.class,
                "long", long.class,
                "float", float.class,
                "double", double.class));
        components.putAll(Map.of("string", String.class, "object", Object.class, "date", Date.class));
        for (Class<?> type : new Class<?>[] {
            Boolean.class,
            Byte.class,
            Character.class,
            Short.class,
            Integer.class,
            Long.class,
            Float.class,
            Double.class,
            Number.class,
            CharSequence.class,
            Comparable.class,
            Serializable.class,
            BigDecimal.class,
            BigInteger.class,
            UUID.class,
            Locale.class,
            Collection.class,
            List.class,
            Set.class,
            Map.class,
            Throwable.class,
            Exception.class,
            StackTraceElement.class,
            java.sql.Date.class,
            java.sql.Time.class,
            java.sql.Timestamp.class,
        }) {
            components.put(type.getName(), type);
        }
        for (Shape form : JavaTimeForms.all().values()) {
            components.put(form.type.getName(), form.type);
        }
        return Map.copyOf(components);
    }
}
