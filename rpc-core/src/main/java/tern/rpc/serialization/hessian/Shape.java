package tern.rpc.serialization.hessian;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How the fields of a class definition become an instance of one class. Thread-safe. */
abstract class Shape {

    private static final int HEADER_BYTES = 16;

    /** What one value of a message may cost, as a short text or the entry of a map does. */
    private static final int ROOM_PER_VALUE = 64;

    /** What reading makes, unless the class replaces it. */
    final Class<?> type;

    /** Whether hashing an instance may mean hashing its parts. */
    final boolean hashesParts;

    private final int instanceBytes;

    /** More than one place where a subclass hides a field of this name; the subclass's is the last. */
    private final Map<String, int[]> places = new HashMap<>();

    Shape(Class<?> type, List<String> names) {
        this(type, names, true);
    }

    /** @param names of the fields; one occurs twice where a subclass hides a field */
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

    /** For each field of a definition its place among the names, or -1. */
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

    /** Hidden fields are told apart by their order; if the counts differ, only the subclass's is known for sure. */
    private static void bindLast(String[] wire, int[] binding, String name, int place) {
        boolean bound = false;
        for (int i = wire.length - 1; i >= 0; i--) {
            if (wire[i].equals(name)) {
                binding[i] = bound ? -1 : place;
                bound = true;
            }
        }
    }

    /** What an instance takes beyond the room that the named fields of a definition give reason to expect. */
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

    /** Whether the class may put another object in the place of what was read, so that {@link #type} says nothing. */
    boolean isReplaced() {
        return false;
    }

    /** Reads the field values, which come next, and takes the next reference number first. */
    abstract @Nullable Object read(ValueReader reader, WireClass wire);
}
