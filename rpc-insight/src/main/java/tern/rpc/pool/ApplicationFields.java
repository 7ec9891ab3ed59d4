package tern.rpc.pool;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the fields of application objects. A field that cannot be read is skipped. */
public final class ApplicationFields {

    private static final Logger LOG = LoggerFactory.getLogger(ApplicationFields.class);

    private ApplicationFields() {}

    /** Returns whether the class is a class of the application, and neither an enum nor an array. */
    public static boolean isSearched(Class<?> type) {
        return !type.isEnum() && !type.isArray() && ApplicationCode.owns(type.getName());
    }

    /**
     * Returns the fields that the class declares. Returns no fields if the class of a field is missing, for example
     * because it belongs to an optional library.
     */
    public static Field[] of(Class<?> type) {
        try {
            return type.getDeclaredFields();
        } catch (LinkageError e) {
            LOG.debug("{} is not searched", type, e);
            return new Field[0];
        }
    }

    /** Returns the object in the field; null for a static or primitive field, or if the field cannot be read. */
    public static @Nullable Object value(Field field, Object holder) {
        if (Modifier.isStatic(field.getModifiers()) || field.getType().isPrimitive()) {
            return null;
        }
        try {
            field.setAccessible(true);
            return field.get(holder);
        } catch (IllegalAccessException | RuntimeException e) {
            LOG.trace("{} is not searched", field, e);
            return null;
        }
    }
}
