package tern.rpc.serialization.hessian;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.EqualHashes;
import tern.rpc.serialization.SerializationException;

/**
 * Limits the processor time that a message can consume by making its reader hash and compare keys. The weight of a key
 * is the number of values that hashing the key may visit; a value is counted once for each reference to it. Benchmarks
 * extend this class to measure its cost. Not thread-safe.
 */
class HashBudget {

    /** The assumed number of comparisons for each element added to a heap. It equals the heap's maximum height. */
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
            throw new SerializationException(
                    "sets and map keys nested deeper than " + limits.hashedNesting() + " (fixed limit)");
        }
    }

    /** Returns whether the value being read belongs to a map key or a set element. */
    boolean isInKey() {
        return nesting > 0;
    }

    void leaveKey() {
        nesting--;
    }

    /**
     * Charges the budget for hashing and comparing a key, before the key is added to its container. Rejects the
     * message if the budget is exceeded.
     *
     * @param before the number of non-scalar keys already in the container
     * @param chained whether the container searches keys with equal hash codes one by one, regardless of their class
     * @return the number of non-scalar keys including this key
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
     * Charges the budget for a key that refers to incomplete containers, that is, containers whose contents are still
     * being read. If this key and all earlier keys refer to the same single container, as children refer to their
     * parent, the cost is {@code part}, because comparing two keys does not visit that container. Otherwise the cost is
     * {@code part} × the number of keys including this key. Each set of containers is represented by a bit mask.
     *
     * @param part the part of the key's weight that comes from incomplete containers
     * @param referred the incomplete containers to which this key refers
     * @param before the return value for the previous key; 0 for the first key
     * @param keys the number of earlier keys
     * @return the union of {@code referred} and {@code before}
     */
    long chargeOpen(long part, long referred, long before, int keys) {
        boolean same = Long.bitCount(referred | before) == 1;
        spend(same ? part : OpenContainers.capped(part) * (keys + 1L));
        return referred | before;
    }

    /** Charges the budget for comparing an element with earlier elements of a heap. */
    void chargeCompared(long weight) {
        spend(weight * COMPARISONS);
    }

    /**
     * Limits the number of keys with equal hash codes in one container. Called before a key is added whose class
     * differs from the class recorded in {@code state}.
     *
     * @param state the return value for the previous key; null for the first key
     * @param keys the keys in the container so far
     * @return the state including this key
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

    /**
     * Returns whether hashing the key takes a single step. {@link #chargeEqual} limits keys with equal hash codes
     * separately.
     */
    private static boolean isScalar(@Nullable Object key) {
        return key == null
                || key instanceof String
                || key instanceof Enum
                || (key instanceof Comparable && key.getClass().getName().startsWith("java."));
    }
}
