package tern.rpc.serialization.hessian;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.EqualHashes;
import tern.rpc.serialization.SerializationException;

/**
 * Limits the cost that a message can cause by the hashing and comparing of its keys. The weight of a key is the number
 * of values that hashing the key may visit. Each reference to a value counts again, because hashing visits the value
 * again. Only benchmarks extend this class, to measure its cost. Not thread-safe.
 */
class HashBudget {

    /** The number of comparisons for one element that is added to a heap. It is the maximum height of a heap. */
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

    /** Whether a key or an element of a set is being read. */
    boolean isInKey() {
        return nesting > 0;
    }

    void leaveKey() {
        nesting--;
    }

    /**
     * Charges for a key that is about to be added.
     *
     * @param before the number of non-scalar keys that the container already holds
     * @param chained whether keys of equal hash are searched linearly, regardless of their class
     * @return the number of non-scalar keys that the container holds with this key
     */
    int charge(@Nullable Object key, long weight, int before, boolean chained) {
        if (!chained && isScalar(key)) {
            spend(weight);
            return before;
        }
        if (before >= limits.nonScalarKeys()) {
            throw new SerializationException("more than " + limits.nonScalarKeys()
                    + " keys or elements of a set that are not simple values"
                    + "; the limit is rpc.limits.max-composite-keys");
        }
        spend(weight * (before + 1L));
        return before + 1;
    }

    /**
     * Charges for a key that refers to containers which are still being read. If all keys refer to the same container,
     * as children refer to their parent, comparing two keys does not visit it, so the charge is small. Sets of
     * containers are bit masks.
     *
     * @param part the part of the key's weight that belongs to incomplete containers
     * @param referred the incomplete containers that this key refers to
     * @param before the result of this method for the previous key; 0 for the first key
     * @param keys the number of earlier keys
     * @return the incomplete containers that the earlier keys or this key refer to
     */
    long chargeOpen(long part, long referred, long before, int keys) {
        boolean same = Long.bitCount(referred | before) == 1;
        spend(same ? part : OpenContainers.capped(part) * (keys + 1L));
        return referred | before;
    }

    /** Charges for an element that is about to be compared with some of the earlier elements. */
    void chargeCompared(long weight) {
        spend(weight * COMPARISONS);
    }

    /**
     * Checks the number of keys with equal hashes for a key that is about to be added and whose class differs from the
     * current state.
     *
     * @param state the result of this method for the previous key; null for the first key
     * @param keys the keys that the container holds so far
     * @return the state that includes this key
     */
    @Nullable
    Object chargeEqual(@Nullable Object state, @Nullable Object key, Collection<?> keys) {
        boolean composite = !isScalar(key);
        int most = limits.equalKeys() + (composite ? limits.nonScalarKeys() : 0);
        return EqualHashes.with(state, key, keys, composite, most < 0 ? Integer.MAX_VALUE : most);
    }

    private void spend(long visits) {
        work = visits < 0 ? -1 : work + visits;
        if (work > limits.keySteps() || work < 0) {
            throw new SerializationException("keys whose hashing would take too long: more than " + limits.keySteps()
                    + " steps; the limit is rpc.limits.max-key-steps");
        }
    }

    /** Whether hashing the key takes one step. Keys of equal hash are limited separately, in {@link #chargeEqual}. */
    private static boolean isScalar(@Nullable Object key) {
        return key == null
                || key instanceof String
                || key instanceof Enum
                || (key instanceof Comparable && key.getClass().getName().startsWith("java."));
    }
}
