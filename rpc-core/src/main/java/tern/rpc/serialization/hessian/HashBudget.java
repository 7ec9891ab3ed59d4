package tern.rpc.serialization.hessian;

import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * Bounds what a message can make hashing and comparing its keys cost. A key's weight is the number of values that
 * hashing it may visit, counted anew for each reference, as hashing does. Extended by benchmarks alone, which ask what
 * this costs. Not thread-safe.
 */
class HashBudget {

    /** Visits of a value; about a tenth of a second. */
    private static final long MOST_WORK = 1L << 26;

    /** Of one element with others in a heap; its height. */
    private static final int COMPARISONS = 20;

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
            spend(weight);
            return before;
        }
        if (before >= limits.nonScalarKeys()) {
            throw new SerializationException("more than " + limits.nonScalarKeys()
                    + " keys or elements of a set that are not text, numbers and the like");
        }
        spend(weight * (before + 1L));
        return before + 1;
    }

    /** Takes account of an element that is about to be compared with some of those before it. */
    void chargeCompared(long weight) {
        spend(weight * COMPARISONS);
    }

    private void spend(long visits) {
        work += visits;
        if (work > MOST_WORK || work < 0) {
            throw new SerializationException("keys whose hashing would take too long");
        }
    }

    /** Values of which a table makes a tree when their hashes are equal. */
    private static boolean isScalar(@Nullable Object key) {
        return key == null
                || key instanceof String
                || key instanceof Enum
                || (key instanceof Comparable && key.getClass().getClassLoader() == null);
    }
}
