package tern.rpc.server;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.ValueType;
import tern.rpc.serialization.EqualHashes;
import tern.rpc.serialization.KeyLimits;
import tern.rpc.serialization.SerializationException;

/**
 * Converts beans to maps for generic callers, and maps to beans. Only the declared type determines which class a map is
 * converted to; an entry named {@code class} is ignored (docs/wire-protocol.md 1.9). Each call uses its own instance.
 * Not thread-safe.
 */
final class GenericValues {

    private static final String CLASS_ENTRY = "class";

    /**
     * The maximum number of values in one call. A value is copied once for each reference to it. Without a limit, a
     * small message could therefore expand to any size.
     */
    private static final int MAX_VALUES = 1 << 20;

    private static final KeyLimits KEY_LIMITS = KeyLimits.DEFAULT;

    private int values;
    private long steps;

    private void count() {
        values++;
        if (values > MAX_VALUES) {
            throw RpcException.refusal(
                    StatusCode.INVALID_ARGUMENT,
                    "generic call: more than " + MAX_VALUES + " values, where a repeated value counts each time"
                            + " (fixed limit)",
                    Executed.NO);
        }
    }

    @Nullable
    Object toGeneric(@Nullable Object value) {
        count();
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        if (value instanceof Collection<?> collection) {
            List<Object> list = new ArrayList<>(collection.size());
            collection.forEach(element -> list.add(toGeneric(element)));
            return list;
        }
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> copy = new LinkedHashMap<>();
            map.forEach((key, element) -> copy.put(toGeneric(key), toGeneric(element)));
            return new HashMap<>(copy);
        }
        if (value instanceof Object[] array) {
            return toGeneric(Arrays.asList(array));
        }
        if (value == null
                || value.getClass().isArray()
                || value.getClass().getName().startsWith("java.")) {
            return value;
        }
        return beanToMap(value);
    }

    private Map<String, Object> beanToMap(Object bean) {
        Map<String, Object> map = new HashMap<>();
        try {
            for (Field field : fields(bean.getClass())) {
                map.put(field.getName(), toGeneric(field.get(bean)));
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        map.put(CLASS_ENTRY, bean.getClass().getName());
        return map;
    }

    @Nullable
    Object toDeclared(@Nullable Object value, Type type) {
        count();
        Class<?> raw = ValueType.of(type).raw();
        if (value == null) {
            return null;
        }
        if (raw.isEnum()) {
            return constant(raw, value);
        }
        if (value instanceof Number number && (raw.isPrimitive() || Number.class.isAssignableFrom(raw))) {
            return number(number, raw);
        }
        if (value instanceof String text && (raw == char.class || raw == Character.class) && text.length() == 1) {
            return text.charAt(0);
        }
        if (value instanceof Collection<?> collection) {
            return raw.isArray() ? array(collection, raw) : collection(collection, raw, argument(type, 0));
        }
        if (value instanceof Object[] array && !raw.isInstance(value)) {
            return toDeclared(Arrays.asList(array), type);
        }
        if (value instanceof Map<?, ?> map) {
            return Map.class.isAssignableFrom(raw) || raw == Object.class ? map(map, raw, type) : bean(map, raw);
        }
        if (raw.isInstance(value) || raw.isPrimitive()) {
            return value;
        }
        throw mismatch(value, raw, null);
    }

    private static Object constant(Class<?> raw, Object value) {
        for (Object constant : raw.getEnumConstants()) {
            if (((Enum<?>) constant).name().equals(value.toString())) {
                return constant;
            }
        }
        throw mismatch(value, raw, null);
    }

    private static Object number(Number value, Class<?> raw) {
        if (raw == int.class || raw == Integer.class) {
            return value.intValue();
        }
        if (raw == long.class || raw == Long.class) {
            return value.longValue();
        }
        if (raw == double.class || raw == Double.class) {
            return value.doubleValue();
        }
        if (raw == float.class || raw == Float.class) {
            return value.floatValue();
        }
        if (raw == short.class || raw == Short.class) {
            return value.shortValue();
        }
        if (raw == byte.class || raw == Byte.class) {
            return value.byteValue();
        }
        if (raw == BigDecimal.class) {
            return new BigDecimal(value.toString());
        }
        return raw == BigInteger.class ? new BigInteger(value.toString()) : value;
    }

    private Object array(Collection<?> values, Class<?> raw) {
        Object array = Array.newInstance(raw.getComponentType(), values.size());
        int i = 0;
        for (Object value : values) {
            Array.set(array, i++, toDeclared(value, raw.getComponentType()));
        }
        return array;
    }

    private Object collection(Collection<?> values, Class<?> raw, Type element) {
        Collection<Object> copy = Set.class.isAssignableFrom(raw)
                ? new HashSet<>()
                : Queue.class.isAssignableFrom(raw) ? new ArrayDeque<>() : new ArrayList<>();
        if (!raw.isInstance(copy)) {
            throw mismatch(values, raw, null);
        }
        KeyCount keys = copy instanceof Set ? new KeyCount() : null;
        for (Object value : values) {
            int before = this.values;
            Object declared = toDeclared(value, element);
            if (keys != null) {
                keys.add(declared, this.values - before, copy);
            }
            copy.add(declared);
        }
        return copy;
    }

    private Object map(Map<?, ?> map, Class<?> raw, Type type) {
        Map<Object, Object> copy = new LinkedHashMap<>();
        if (!raw.isInstance(copy)) {
            throw mismatch(map, raw, null);
        }
        KeyCount keys = new KeyCount();
        map.forEach((key, value) -> {
            int before = values;
            Object declared = toDeclared(key, argument(type, 0));
            keys.add(declared, values - before, copy.keySet());
            copy.put(declared, toDeclared(value, argument(type, 1)));
        });
        return copy;
    }

    /** Limits the cost of hashing the keys of one container. Message readers apply the same limits. */
    private final class KeyCount {
        private @Nullable Object classes;
        private int composites;

        void add(@Nullable Object key, int weight, Collection<?> before) {
            if (key == null || key.getClass() == classes) {
                return;
            }
            boolean ofJdk = key.getClass().getName().startsWith("java.") || key instanceof Enum;
            boolean composite = !ofJdk || key instanceof Collection || key instanceof Map;
            if (composite) {
                if (++composites > KEY_LIMITS.nonScalarKeys()) {
                    throw refusedKeys("more than " + KEY_LIMITS.nonScalarKeys()
                            + " keys or elements of a set that are not simple values");
                }
                steps += (long) weight * composites;
                if (steps > KEY_LIMITS.keySteps()) {
                    throw refusedKeys("keys whose hashing would take too long");
                }
            }
            int limit = KEY_LIMITS.equalKeys() + (composite ? KEY_LIMITS.nonScalarKeys() : 0);
            try {
                classes = EqualHashes.with(classes, key, before, false, limit);
            } catch (SerializationException tooMany) {
                throw refusedKeys(Objects.requireNonNull(tooMany.getMessage()));
            }
        }
    }

    private static RpcException refusedKeys(String why) {
        return RpcException.refusal(StatusCode.INVALID_ARGUMENT, "generic call: " + why, Executed.NO);
    }

    private static Type argument(Type type, int index) {
        return type instanceof ParameterizedType parameterized
                ? parameterized.getActualTypeArguments()[index]
                : Object.class;
    }

    private Object bean(Map<?, ?> map, Class<?> raw) {
        try {
            if (raw.isRecord()) {
                return record(map, raw);
            }
            Constructor<?> constructor = raw.getDeclaredConstructor();
            constructor.setAccessible(true);
            Object bean = constructor.newInstance();
            for (Field field : fields(raw)) {
                if (map.containsKey(field.getName())) {
                    Object value = toDeclared(map.get(field.getName()), field.getGenericType());
                    if (value != null || !field.getType().isPrimitive()) {
                        field.set(bean, value);
                    }
                }
            }
            return bean;
        } catch (ReflectiveOperationException e) {
            throw mismatch(map, raw, e);
        }
    }

    private Object record(Map<?, ?> map, Class<?> raw) throws ReflectiveOperationException {
        RecordComponent[] components = raw.getRecordComponents();
        Class<?>[] types = new Class<?>[components.length];
        Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            values[i] = toDeclared(map.get(components[i].getName()), components[i].getGenericType());
        }
        Constructor<?> constructor = raw.getDeclaredConstructor(types);
        constructor.setAccessible(true);
        return constructor.newInstance(values);
    }

    private static List<Field> fields(Class<?> type) {
        List<Field> fields = new ArrayList<>();
        for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass()) {
            for (Field field : c.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !Modifier.isTransient(field.getModifiers())) {
                    field.setAccessible(true);
                    fields.add(field);
                }
            }
        }
        return fields;
    }

    private static RpcException mismatch(Object value, Class<?> raw, @Nullable Throwable cause) {
        return new RpcException(
                StatusCode.INVALID_ARGUMENT,
                "generic call: a " + value.getClass().getSimpleName() + " cannot become a " + raw.getName(),
                Executed.NO,
                cause);
    }
}
