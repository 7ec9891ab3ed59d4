package tern.rpc.serialization.hessian;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.EqualHashes;
import tern.rpc.serialization.SerializationException;

/**
 * Bounds what a message can make hashing and comparing its keys cost. A key's weight is the number of values that
 * hashing it may visit, counted anew for each reference, as hashing does. Extended by benchmarks alone, which ask what
 * this costs. Not thread-safe.
 */
class HashBudget {

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

    /** Whether a key or an element of a set is being read. */
    boolean isInKey() {
        return nesting > 0;
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
                    + " keys or elements of a set that are not text, numbers and the like"
                    + "; the limit is rpc.limits.max-composite-keys");
        }
        spend(weight * (before + 1L));
        return before + 1;
    }

    /**
     * Takes account of what a key refers to that is not complete. Keys that all refer to one such thing, as children to
     * their parent, find it to be the same when they are compared.
     *
     * @param part of the weight of the key
     * @param referred what this key refers to
     * @param before what all keys before referred to, or 0
     * @param keys how many there are before
     * @return what all of them refer to
     */
    long chargeOpen(long part, long referred, long before, int keys) {
        boolean same = Long.bitCount(referred | before) == 1;
        spend(same ? part : OpenContainers.capped(part) * (keys + 1L));
        return referred | before;
    }

    /** Takes account of an element that is about to be compared with some of those before it. */
    void chargeCompared(long weight) {
        spend(weight * COMPARISONS);
    }

    /**
     * Takes account of the hash of a key that is about to be put and whose class is not the present state.
     *
     * @param state what this answered for the key before, null for the first one
     * @param keys of the container so far
     * @return the state with this key
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

    /** Values that are hashed at once; whether a table can make a tree of them is looked at by their hashes. */
    private static boolean isScalar(@Nullable Object key) {
        return key == null
                || key instanceof String
                || key instanceof Enum
                || (key instanceof Comparable && key.getClass().getName().startsWith("java."));
    }
}
