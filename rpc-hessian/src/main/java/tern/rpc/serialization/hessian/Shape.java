package tern.rpc.serialization.hessian;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Creates instances of one class from the field values of an object in a message. Thread-safe. */
abstract class Shape {

    private static final int HEADER_BYTES = 16;

    /** The assumed memory of one value of a message, in bytes. A short string or a map entry needs about this much. */
    private static final int ROOM_PER_VALUE = 64;

    /** The class of the created instances. Instances can be replaced afterwards; see {@link #isReplaced}. */
    final Class<?> type;

    /** True if hashing an instance may also hash the instance's field values. */
    final boolean hashesParts;

    private final int instanceBytes;

    /**
     * The indexes for each field name. If a subclass hides a field, the name has several indexes; the last index
     * belongs to the subclass's field.
     */
    private final Map<String, int[]> places = new HashMap<>();

    Shape(Class<?> type, List<String> names) {
        this(type, names, true);
    }

    /**
     * Creates a reader for instances of one class.
     *
     * @param names the names of the fields; a name occurs twice if a subclass hides a field
     */
    Shape(Class<?> type, List<String> names, boolean hashesParts) {
        this.type = type;
        this.hashesParts = hashesParts;
        this.instanceBytes = instanceBytes(type);
        for (int i = 0; i < names.size(); i++) {
            places.merge(names.get(i), new int[] {i}, Shape::joined);
        }
    }

    private static int[] joined(int[] places, int[] more) {
        int[] all = Arrays.copyOf(places, places.length + 1);
        all[places.length] = more[0];
        return all;
    }

    /** Returns the index in {@code names} for each field of a class definition, or -1 for an unknown field. */
    final int[] bind(String[] wire) {
        int[] binding = new int[wire.length];
        Map<String, Integer> seen = new HashMap<>();
        for (int i = 0; i < wire.length; i++) {
            int[] own = places.get(wire[i]);
            binding[i] = own == null ? -1 : own[Math.min(seen.merge(wire[i], 1, Integer::sum), own.length) - 1];
        }
        places.forEach((name, own) -> {
            if (own.length > 1 && seen.getOrDefault(name, 0) != own.length) {
                bindLast(wire, binding, name, own[own.length - 1]);
            }
        });
        return binding;
    }

    /**
     * Binds only the last field with this name, which is the subclass's field. Called when the class definition in the
     * message and the class have different numbers of fields with this name. Fields with the same name are
     * distinguished only by their order, so the other fields cannot be matched reliably.
     */
    private static void bindLast(String[] wire, int[] binding, String name, int place) {
        boolean bound = false;
        for (int i = wire.length - 1; i >= 0; i--) {
            if (wire[i].equals(name)) {
                binding[i] = bound ? -1 : place;
                bound = true;
            }
        }
    }

    /**
     * Returns the memory of an instance in bytes, minus the memory that the reader assumes for the instance and for
     * each field value in the message ({@link #ROOM_PER_VALUE}).
     *
     * @param named the number of fields named in the definition
     */
    final int shellBytes(int named) {
        return Math.max(0, instanceBytes - ROOM_PER_VALUE * (1 + named));
    }

    private static int instanceBytes(Class<?> type) {
        int bytes = HEADER_BYTES;
        for (Class<?> in = type; in != null; in = in.getSuperclass()) {
            for (Field field : in.getDeclaredFields()) {
                boolean wide = field.getType() == long.class || field.getType() == double.class;
                bytes += Modifier.isStatic(field.getModifiers()) ? 0 : wide ? Long.BYTES : Integer.BYTES;
            }
        }
        return bytes;
    }

    /**
     * Returns whether the class can replace an instance after the instance has been read. The class of the replacement
     * may differ from {@link #type}.
     */
    boolean isReplaced() {
        return false;
    }

    /** Assigns the next reference number to the instance, then reads the field values from the message. */
    abstract @Nullable Object read(ValueReader reader, WireClass wire);
}
