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

    /** The memory that one value of a message is assumed to need. A short text or a map entry needs about as much. */
    private static final int ROOM_PER_VALUE = 64;

    /** The class of the created instances, unless the class replaces them. */
    final Class<?> type;

    /** Whether hashing an instance may hash its parts. */
    final boolean hashesParts;

    private final int instanceBytes;

    /**
     * The places of each field name. A name has several places if a subclass hides a field of this name. The place of
     * the subclass's field is the last.
     */
    private final Map<String, int[]> places = new HashMap<>();

    Shape(Class<?> type, List<String> names) {
        this(type, names, true);
    }

    /**
     * Creates a shape.
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

    /** Returns for each field of a definition its place among the names, or -1. */
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
     * Binds only the last field of a name, which is the subclass's field. Hidden fields are distinguished by their
     * order, and if the number of fields differs, only the last field is certain.
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

    /** Returns the bytes that an instance needs beyond the room assumed for the named fields of a definition. */
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
     * Whether the class may replace the instance that was read, so that the result may have another class than {@link
     * #type}.
     */
    boolean isReplaced() {
        return false;
    }

    /** Assigns the next reference number, then reads the field values, which come next. */
    abstract @Nullable Object read(ValueReader reader, WireClass wire);
}
