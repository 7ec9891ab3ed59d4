package tern.rpc.serialization.hessian;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * The maps, lists and objects in a message, numbered in the order in which they begin, and the cost of hashing each
 * of them. Not thread-safe.
 */
final class References {

    /** Marks a value that has not been created yet. References to such a value are not allowed. */
    private static final Object UNFINISHED = new Object();

    /**
     * Marks a skipped value. For such a value, {@code weights} contains the position of the value's first byte instead
     * of a weight.
     */
    private static final Object SKIPPED = new Object();

    /** The weight of a value whose parts are still being read. The hashing cost of such a value is unknown. */
    static final long OPEN = -1;

    private static final int INITIAL = 32;
    private static final int MAX_KEPT = 1024;

    private @Nullable Object[] values = new Object[INITIAL];
    private long[] weights = new long[INITIAL];
    private int size;

    /**
     * The reference number of the next value. This number equals {@code size}, except while an earlier skipped value is
     * read.
     */
    private int next;

    void clear() {
        if (values.length > MAX_KEPT) {
            values = new Object[INITIAL];
            weights = new long[INITIAL];
        } else {
            Arrays.fill(values, 0, size, null);
        }
        size = 0;
        next = 0;
    }

    /**
     * Assigns the next number to a value that has already been created. References in its own parts may point to the
     * value.
     */
    int add(Object value) {
        if (next == values.length) {
            values = Arrays.copyOf(values, next * 2);
            weights = Arrays.copyOf(weights, next * 2);
        }
        values[next] = value;
        weights[next] = OPEN;
        int number = next++;
        size = Math.max(size, next);
        return number;
    }

    /** Assigns the next number to a value that can be created only after its parts have been read. */
    int addUnfinished() {
        return add(UNFINISHED);
    }

    /**
     * Assigns the next number to a skipped value.
     *
     * @param position the position of the value's first byte
     */
    void addSkipped(int position) {
        int number = add(SKIPPED);
        weights[number] = position;
    }

    boolean isSkipped(int number) {
        return values[number] == SKIPPED;
    }

    /** Returns the position of a skipped value's first byte. */
    int position(int number) {
        return (int) weights[number];
    }

    void finish(int number, @Nullable Object value) {
        values[number] = value;
    }

    /** Returns the number that the next value gets. */
    int next() {
        return next;
    }

    /**
     * Sets the reference number of the next value. To read a skipped value later, the reader sets the number of this
     * value, reads the value, and then restores the previous number.
     */
    void continueAt(int number) {
        next = number;
    }

    void weigh(int number, long weight) {
        weights[number] = OpenContainers.capped(weight);
    }

    /** Returns the cost of hashing a value, or {@link #OPEN} if the value's parts are still being read. */
    long weight(int number) {
        return weights[number];
    }

    /**
     * Returns whether references to the value are allowed. The value must have been created and must not have been
     * skipped, but may still be incomplete.
     */
    boolean isAvailable(int number) {
        return values[number] != UNFINISHED && values[number] != SKIPPED;
    }

    void check(int number, HessianInput in) {
        if (number < 0 || number >= size) {
            throw new SerializationException(
                    "reference to value " + number + ", but there are only " + size + in.here());
        }
    }

    @Nullable
    Object get(int number, HessianInput in) {
        check(number, in);
        Object value = values[number];
        if (value == UNFINISHED) {
            throw new SerializationException("reference to value " + number + " from inside of it, and values of its"
                    + " class are made only when their parts are complete" + in.here());
        }
        if (value == SKIPPED) {
            throw new SerializationException("reference to value " + number + ", which was skipped" + in.here());
        }
        return value;
    }
}
