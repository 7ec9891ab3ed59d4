package tern.rpc.serialization.hessian;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Numbers objects in the order in which they come, and knows them again by identity. Few are looked for one by one: the
 * identity hash of an object that never had one costs more than a look at sixteen. Not thread-safe.
 */
final class IdentityNumbers {

    private static final int SCANNED = 16;
    private static final int FIRST_SLOTS = 256;
    private static final int LARGEST_KEPT = 1 << 10;

    private @Nullable Object[] objects = new Object[SCANNED];
    private int[] numbers = new int[SCANNED];

    /** By hash: an index of {@link #objects} and one more; 0 is free. Its length is a power of two. */
    private int[] slots = {};

    /** The slots in use for this message; 0 as long as the objects are few. */
    private int slotCount;

    private int size;
    private int next;

    void clear() {
        if (objects.length > LARGEST_KEPT) {
            objects = new Object[SCANNED];
            numbers = new int[SCANNED];
            slots = new int[] {};
        } else {
            Arrays.fill(objects, 0, size, null);
        }
        slotCount = 0;
        size = 0;
        next = 0;
    }

    /** How many numbers were given. */
    int count() {
        return next;
    }

    /** The number of a known object; of another one -1, and then it has the next number from now on. */
    int put(Object object) {
        int known = find(object);
        if (known < 0) {
            add(object, next++);
        }
        return known;
    }

    /** A number for something that is never met again. */
    void skip() {
        next++;
    }

    /** The number of a known object, or -1. */
    int find(Object object) {
        if (slotCount > 0) {
            int index = slots[slot(object)] - 1;
            return index < 0 ? -1 : numbers[index];
        }
        for (int i = 0; i < size; i++) {
            if (objects[i] == object) {
                return numbers[i];
            }
        }
        return -1;
    }

    /** Another object for a known number. */
    void alias(Object object, int number) {
        if (find(object) < 0) {
            add(object, number);
        }
    }

    private void add(Object object, int number) {
        if (size == objects.length) {
            objects = Arrays.copyOf(objects, size * 2);
            numbers = Arrays.copyOf(numbers, size * 2);
        }
        objects[size] = object;
        numbers[size] = number;
        size++;
        if (slotCount >= size * 2) {
            slots[slot(object)] = size;
        } else if (size > SCANNED) {
            hashAll();
        }
    }

    private void hashAll() {
        slotCount = Math.max(FIRST_SLOTS, slotCount * 4);
        if (slots.length < slotCount) {
            slots = new int[slotCount];
        } else {
            Arrays.fill(slots, 0, slotCount, 0);
        }
        for (int i = 0; i < size; i++) {
            slots[slot(objects[i])] = i + 1;
        }
    }

    /** Where the object is, or would be put. */
    private int slot(@Nullable Object object) {
        int mask = slotCount - 1;
        int slot = spread(System.identityHashCode(object)) & mask;
        while (slots[slot] != 0 && objects[slots[slot] - 1] != object) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private static int spread(int hash) {
        return hash ^ (hash >>> 15);
    }
}
