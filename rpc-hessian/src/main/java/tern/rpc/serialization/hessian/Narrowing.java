package tern.rpc.serialization.hessian;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Date;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Converts values of Hessian's few scalar types to Java's scalar types without losing digits. */
final class Narrowing {

    private Narrowing() {}

    /** Returns the value converted to an instance of the class, or null if the value cannot be converted. */
    static @Nullable Object to(Class<?> type, Object value) {
        if (value instanceof Integer || value instanceof Long) {
            return whole(type, ((Number) value).longValue());
        }
        if (value instanceof Double number) {
            return fraction(type, number);
        }
        if (value instanceof String text) {
            return text(type, text);
        }
        if (value instanceof Date date) {
            return date(type, date.getTime());
        }
        return value instanceof Boolean flag && type == AtomicBoolean.class ? new AtomicBoolean(flag) : null;
    }

    /** Returns the default value of a field of the given type, which is null if the type is not primitive. */
    static @Nullable Object zero(Class<?> primitive) {
        if (primitive == boolean.class) {
            return false;
        }
        if (primitive == char.class) {
            return '\0';
        }
        return primitive.isPrimitive() && primitive != void.class
                ? whole(java.lang.invoke.MethodType.methodType(primitive).wrap().returnType(), 0)
                : null;
    }

    private static @Nullable Object whole(Class<?> type, long value) {
        if (type == Integer.class) {
            return (int) value == value ? (int) value : null;
        }
        if (type == Long.class) {
            return value;
        }
        if (type == Short.class) {
            return (short) value == value ? (short) value : null;
        }
        if (type == Byte.class) {
            return (byte) value == value ? (byte) value : null;
        }
        if (type == Double.class) {
            return (long) (double) value == value ? (double) value : null;
        }
        if (type == Float.class) {
            return (long) (float) value == value ? (float) value : null;
        }
        if (type == BigInteger.class) {
            return BigInteger.valueOf(value);
        }
        if (type == BigDecimal.class) {
            return BigDecimal.valueOf(value);
        }
        if (type == AtomicLong.class) {
            return new AtomicLong(value);
        }
        return type == AtomicInteger.class && (int) value == value ? new AtomicInteger((int) value) : null;
    }

    private static @Nullable Object fraction(Class<?> type, double value) {
        if (type == Float.class) {
            return (float) value;
        }
        if (type == BigDecimal.class && Double.isFinite(value)) {
            return BigDecimal.valueOf(value);
        }
        return (long) value == value ? whole(type, (long) value) : null;
    }

    private static @Nullable Object text(Class<?> type, String value) {
        if (type == Character.class) {
            return value.length() == 1 ? value.charAt(0) : null;
        }
        if (type == char[].class) {
            return value.toCharArray();
        }
        return type == StringBuilder.class ? new StringBuilder(value) : null;
    }

    private static @Nullable Object date(Class<?> type, long millis) {
        if (type == java.sql.Timestamp.class) {
            return new java.sql.Timestamp(millis);
        }
        if (type == java.sql.Date.class) {
            return new java.sql.Date(millis);
        }
        return type == java.sql.Time.class ? new java.sql.Time(millis) : null;
    }
}
