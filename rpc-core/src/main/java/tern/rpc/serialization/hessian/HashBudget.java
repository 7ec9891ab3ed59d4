package tern.rpc.serialization.hessian;

import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * Bounds what a message can make hashing and comparing its keys cost. A key's weight is the number of values that
 * hashing it may visit, counted anew for each reference, as hashing does. Not thread-safe.
 */
final class HashBudget {

    /** Visits of a value; about a tenth of a second. */
    private static final long MOST_WORK = 1L << 26;

    private final HessianLimits limits;
    private int nesting;
    private long work;

    HashBudget(HessianLimits limits) {
        this.limits = limits;
    }

    void start() {
        nesting = 0;
        work = 0;
    }

    void enterKey() {
        nesting++;
        if (nesting > limits.hashedNesting()) {
            throw new SerializationException("sets and map keys nested deeper than " + limits.hashedNesting());
        }
    }

    void leaveKey() {
        nesting--;
    }

    /**
     * Takes account of a key that is about to be put.
     *
     * @param before how many non-scalar keys the container holds
     * @param chained whether keys of equal hash are searched one after the other whatever their class is
     * @return how many it holds now
     */
    int charge(@Nullable Object key, long weight, int before, boolean chained) {
        if (!chained && isScalar(key)) {
            return before;
        }
        if (before >= limits.nonScalarKeys()) {
            throw new SerializationException("more than " + limits.nonScalarKeys()
                    + " keys or elements of a set that are not text, numbers and the like");
        }
        work += weight * (before + 1L);
        if (work > MOST_WORK || work < 0) {
            throw new SerializationException("keys whose hashing would take too long");
        }
        return before + 1;
    }

    /** Values of which a table makes a tree when their hashes are equal. */
    private static boolean isScalar(@Nullable Object key) {
        return key == null
                || key instanceof String
                || key instanceof Enum
                || (key instanceof Comparable && key.getClass().getClassLoader() == null);
    }
}
