package tern.rpc.serialization.hessian;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Prints an object and all objects reachable from it. The text shows shared objects and cycles. */
final class Picture {

    private final StringBuilder text = new StringBuilder();
    private final Map<Object, Integer> seen = new IdentityHashMap<>();

    static String of(@Nullable Object value) {
        Picture picture = new Picture();
        picture.draw(value);
        return picture.text.toString();
    }

    private void draw(@Nullable Object value) {
        if (value == null
                || value instanceof String
                || (value instanceof Number && !value.getClass().getName().contains("Atomic"))
                || value instanceof Boolean
                || value instanceof Enum) {
            text.append(value == null ? "" : value.getClass().getSimpleName()).append(value);
        } else if (value instanceof Collection
                || value instanceof Map
                || value.getClass().isArray()
                || isOwn(value)) {
            drawShared(value);
        } else {
            text.append(Graphs.plain(value));
        }
    }

    private static boolean isOwn(Object value) {
        return value.getClass().getName().startsWith("tern.");
    }

    private void drawShared(Object value) {
        Integer number = seen.putIfAbsent(value, seen.size());
        if (number != null) {
            text.append('#').append(number);
            return;
        }
        if (value.getClass().isArray()) {
            drawArray(value);
        } else if (value instanceof Map<?, ?> map) {
            drawMap(map);
        } else if (value instanceof Collection<?> collection) {
            text.append(value instanceof Set ? "Set" : "").append('[');
            collection.forEach(element -> {
                draw(element);
                text.append(' ');
            });
            text.append(']');
        } else {
            drawFields(value);
        }
    }

    private void drawArray(Object array) {
        text.append(array.getClass().getSimpleName()).append('[');
        for (int i = 0; i < Array.getLength(array); i++) {
            draw(Array.get(array, i));
            text.append(' ');
        }
        text.append(']');
    }

    private void drawMap(Map<?, ?> map) {
        text.append('{');
        new TreeMap<Object, Object>(map).forEach((key, mapped) -> {
            draw(key);
            text.append('=');
            draw(mapped);
            text.append(' ');
        });
        text.append('}');
    }

    private void drawFields(Object value) {
        text.append(value.getClass().getSimpleName()).append('(');
        for (Class<?> type = value.getClass(); type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if ((field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0) {
                    text.append(field.getName()).append(':');
                    field.setAccessible(true);
                    draw(content(field, value));
                    text.append(' ');
                }
            }
        }
        text.append(')');
    }

    private static @Nullable Object content(Field field, Object of) {
        try {
            return field.get(of);
        } catch (IllegalAccessException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
