package tern.rpc.serialization.hessian;

import java.io.IOException;
import java.util.Date;
import java.util.Map;

/**
 * Writes an array as a list with its length and element type. Byte arrays and char arrays are written as a single value
 * instead. Thread-safe.
 */
final class ArrayForms {

    private static final Map<Class<?>, String> SHORT_NAMES =
            Map.of(String.class, "string", Object.class, "object", Date.class, "date");

    private static final Map<Class<?>, WireForm> PRIMITIVE = Map.of(
            byte[].class, (value, out) -> out.writeBytes((byte[]) value),
            char[].class, (value, out) -> out.writeString((char[]) value, 0, ((char[]) value).length),
            boolean[].class, ArrayForms::writeBooleans,
            short[].class, ArrayForms::writeShorts,
            int[].class, ArrayForms::writeInts,
            long[].class, ArrayForms::writeLongs,
            float[].class, ArrayForms::writeFloats,
            double[].class, ArrayForms::writeDoubles);

    private ArrayForms() {}

    static WireForm of(Class<?> type) {
        WireForm primitive = PRIMITIVE.get(type);
        if (primitive != null) {
            return primitive;
        }
        String name = name(type);
        return (value, out) -> writeObjects(name, value, out);
    }

    private static String name(Class<?> type) {
        return type.isArray() ? '[' + name(type.getComponentType()) : SHORT_NAMES.getOrDefault(type, type.getName());
    }

    private static void writeObjects(String name, Object value, HessianOutput out) throws IOException {
        if (!out.addRef(value)) {
            Object[] array = (Object[]) value;
            out.writeListBegin(array.length, name);
            for (Object element : array) {
                out.writeObject(element);
            }
        }
    }

    private static void writeBooleans(Object value, HessianOutput out) {
        if (!out.addRef(value)) {
            boolean[] array = (boolean[]) value;
            out.writeListBegin(array.length, "[boolean");
            for (boolean element : array) {
                out.writeBoolean(element);
            }
        }
    }

    private static void writeShorts(Object value, HessianOutput out) {
        if (!out.addRef(value)) {
            short[] array = (short[]) value;
            out.writeListBegin(array.length, "[short");
            for (short element : array) {
                out.writeInt(element);
            }
        }
    }

    private static void writeInts(Object value, HessianOutput out) {
        if (!out.addRef(value)) {
            int[] array = (int[]) value;
            out.writeListBegin(array.length, "[int");
            for (int element : array) {
                out.writeInt(element);
            }
        }
    }

    private static void writeLongs(Object value, HessianOutput out) {
        if (!out.addRef(value)) {
            long[] array = (long[]) value;
            out.writeListBegin(array.length, "[long");
            for (long element : array) {
                out.writeLong(element);
            }
        }
    }

    private static void writeFloats(Object value, HessianOutput out) {
        if (!out.addRef(value)) {
            float[] array = (float[]) value;
            out.writeListBegin(array.length, "[float");
            for (float element : array) {
                out.writeDouble(element);
            }
        }
    }

    private static void writeDoubles(Object value, HessianOutput out) {
        if (!out.addRef(value)) {
            double[] array = (double[]) value;
            out.writeListBegin(array.length, "[double");
            for (double element : array) {
                out.writeDouble(element);
            }
        }
    }
}
