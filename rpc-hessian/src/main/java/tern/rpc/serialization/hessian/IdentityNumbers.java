package tern.rpc.serialization.hessian;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Numbers objects in the order in which they are added, and finds them by identity. Up to sixteen objects are compared
 * one by one, because the first computation of an object's identity hash takes longer than sixteen comparisons. Not
 * thread-safe.
 */
final class IdentityNumbers {

    private static final int SCANNED = 16;
    private static final int FIRST_SLOTS = 256;
    private static final int MAX_KEPT = 1 << 10;

    private @Nullable Object[] objects = new Object[SCANNED];
    private int[] numbers = new int[SCANNED];

    /**
     * A hash table. Each slot contains an index into {@link #objects} plus one, or 0 if the slot is free. The array's
     * length is a power of two.
     */
    private int[] slots = {};

    /** The number of hash table slots used for this message, or 0 while the objects are compared one by one. */
    private int slotCount;

    private int size;
    private int next;

    void clear() {
        if (objects.length > MAX_KEPT) {
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

    /** Returns the number of reference numbers assigned so far. */
    int count() {
        return next;
    }

    /** Returns the object's number. If the object has no number, assigns the next number to it and returns -1. */
    int put(Object object) {
        int known = find(object);
        if (known < 0) {
            add(object, next++);
        }
        return known;
    }

    /** Assigns the next number to a value that is never looked up. */
    void skip() {
        next++;
    }

    /** Returns the object's number, or -1 if the object has no number. */
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

    /** Assigns an existing number to another object. */
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

    /** Returns the slot that contains the object, or the free slot where the object belongs. */
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
