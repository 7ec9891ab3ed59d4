package tern.rpc.serialization.hessian;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * The maps, lists and objects of a message by number, in the order in which they start, and what hashing each of them
 * would cost. Not thread-safe.
 */
final class References {

    /** Stands for a value that is still being made and cannot be referred to. */
    private static final Object UNFINISHED = new Object();

    /** Stands for a value that was passed over; in the place of its weight stands where it begins. */
    private static final Object SKIPPED = new Object();

    /** The weight of a value whose parts are still being read. */
    static final long OPEN = -1;

    private static final int INITIAL = 32;
    private static final int LARGEST_KEPT = 1024;

    private @Nullable Object[] values = new Object[INITIAL];
    private long[] weights = new long[INITIAL];
    private int size;

    /** The number that the next value takes: the size, except while a value that was passed over is read after all. */
    private int next;

    void clear() {
        if (values.length > LARGEST_KEPT) {
            values = new Object[INITIAL];
            weights = new long[INITIAL];
        } else {
            Arrays.fill(values, 0, size, null);
        }
        size = 0;
        next = 0;
    }

    /** Gives the next number to a value that its parts may refer to. */
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

    /** Gives the next number to a value that exists only when its parts do. */
    int addUnfinished() {
        return add(UNFINISHED);
    }

    /** @param position of the byte that begins the value */
    void addSkipped(int position) {
        int number = add(SKIPPED);
        weights[number] = position;
    }

    boolean isSkipped(int number) {
        return values[number] == SKIPPED;
    }

    /** Where the value that was passed over begins. */
    int position(int number) {
        return (int) weights[number];
    }

    void finish(int number, @Nullable Object value) {
        values[number] = value;
    }

    /** The number that the next value takes. */
    int next() {
        return next;
    }

    /** Lets the values to come take numbers from here on, or again those at the end. */
    void continueAt(int number) {
        next = number;
    }

    void weigh(int number, long weight) {
        weights[number] = OpenContainers.capped(weight);
    }

    /** What hashing a value costs, or {@link #OPEN}. */
    long weight(int number) {
        return weights[number];
    }

    /** Whether there is a value to refer to: it was not passed over and is complete enough. */
    boolean isAvailable(int number) {
        return values[number] != UNFINISHED && values[number] != SKIPPED;
    }

    void check(int number, HessianInput in) {
        if (number < 0 || number >= size) {
            throw new SerializationException("reference to value " + number + ", there are " + size + in.here());
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
            throw new SerializationException("reference to value " + number + ", which was passed over" + in.here());
        }
        return value;
    }
}
