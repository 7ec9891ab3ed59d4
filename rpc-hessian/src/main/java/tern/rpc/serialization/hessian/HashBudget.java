package tern.rpc.serialization.hessian;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.serialization.EqualHashes;
import tern.rpc.serialization.LargeWork;
import tern.rpc.serialization.SerializationException;

/**
 * Limits the processor time for hashing and comparing the keys in a message. The weight of a key is the number of
 * values that can be visited when the key is hashed. A value is counted once for each reference to it. The limit grows
 * with the size of the message, because a few bytes of references can describe a key with a very large weight. A
 * message needs a permit ({@link LargeWork#startHashing}) if its keys take many steps per byte of the message.
 * Benchmarks extend this class to measure the cost of these limits. Not thread-safe.
 */
class HashBudget {

    /**
     * The maximum number of comparisons for each element that is added to a priority queue or a sorted container. This
     * number is the maximum height of a priority queue's heap.
     */
    private static final int COMPARISONS = 20;

    /**
     * The minimum size of a message that may use all of the budget's steps for hashing and comparing keys. A smaller
     * message may use a part that is proportional to its size.
     */
    private static final int FULL_BYTES = 128 << 10;

    /**
     * This size is added to the size of a message when its budget is computed. A small message may therefore contain
     * keys that refer to the same value several times.
     */
    private static final int SPARE_BYTES = 1 << 10;

    /**
     * The steps charged each time a value is visited while a key is hashed. With this charge, hashing the keys of a
     * message of 1 MiB takes at most about 0.1 seconds. Hashing visits a value once for each reference to it.
     */
    private static final int HASH_STEPS = 4;

    /**
     * The additional steps for comparing a key with an earlier key that has the same hash code, charged for each value
     * in the key. A comparison follows many references and takes much longer than hashing. Comparisons with the first
     * {@link HessianLimits#equalKeys} earlier keys cost no additional steps. Only keys of JDK classes, such as lists
     * and maps, cost additional steps. Keys of the application's classes cost no additional steps, because entities
     * often have a constant hash code. A step is the unit of the limit {@code rpc.limits.max-key-steps}.
     */
    private static final int EQUAL_STEPS = 512;

    /**
     * The maximum number of steps for hashing and comparing keys, per byte of the message, for which a message needs no
     * permit. Keys that share no parts take fewer steps, because each value takes at least one byte, and costs {@link
     * #HASH_STEPS} for itself and for each set that contains it.
     */
    private static final int STEPS_WITHOUT_TURN = 16;

    private static final int PLACES = 1 << 12;

    private final HessianLimits limits;
    private int nesting;
    private long work;
    private long allowed;
    private long allowedWithoutTurn;
    private int bytes;
    private Object sender = ""; // identifies the sender of the message that is being read
    private @Nullable LargeWork turn; // this message's permit to hash many keys; null while the message has no permit
    // the reason why this message was refused a permit; null if it was not refused
    private @Nullable RpcException refusal;

    // Counters of the message's non-scalar keys. A key's container and hash code select the key's counter. Null until a
    // message has a non-scalar key.
    private int @Nullable [] places;
    private boolean isCounted;
    private int counted; // The sum of all counters in the field "places".

    HashBudget(HessianLimits limits) {
        this.limits = limits;
    }

    /**
     * Prepares for a new message.
     *
     * @param size the size of the message in bytes
     */
    void start(int size) {
        nesting = 0;
        work = 0;
        bytes = size;
        allowed = allowed(size, limits.keySteps());
        allowedWithoutTurn = STEPS_WITHOUT_TURN * ((long) size + SPARE_BYTES);
        refusal = null;
        if (isCounted && places != null) {
            Arrays.fill(places, 0);
            isCounted = false;
            counted = 0;
        }
    }

    /** @param sender identifies the sender of the message */
    void sender(Object sender) {
        this.sender = sender;
    }

    private static long allowed(int size, long max) {
        double part = ((double) size + SPARE_BYTES) / FULL_BYTES;
        return part >= 1 ? max : Math.max(1, (long) (max * part));
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
     * Charges the budget for hashing and comparing a key. Called before the key is added to its container. Rejects the
     * message if the budget is exceeded.
     *
     * @param before the number of non-scalar keys already in the container
     * @param container the map or set to which the key will be added
     * @param chained whether the container searches keys with equal hash codes one by one, regardless of their class
     * @return the number of non-scalar keys including this key
     */
    int charge(@Nullable Object key, long weight, int before, Object container, boolean chained) {
        if (!chained && isScalar(key)) {
            spend(HASH_STEPS * weight);
            return before;
        }
        if (before >= limits.nonScalarKeys()) {
            throw new SerializationException("more than " + limits.nonScalarKeys()
                    + " keys or elements of a set that are not simple values"
                    + "; the limit is rpc.limits.max-composite-keys");
        }
        spend(HASH_STEPS * weight);
        spend(weight * comparisons(key, before, container));
        return before + 1;
    }

    /** Returns the maximum number of earlier keys that the container compares the key with. */
    private int comparisons(@Nullable Object key, int before, Object container) {
        if (container instanceof SortedSet || container instanceof SortedMap) {
            return Math.min(before, COMPARISONS);
        }
        return key != null && isHashTable(container) ? sameHash(key, container) : before;
    }

    /** Returns whether the container compares only keys with equal hash codes. */
    private static boolean isHashTable(Object container) {
        return container instanceof HashMap
                || container instanceof HashSet
                || container instanceof ConcurrentHashMap
                || container instanceof ConcurrentHashMap.KeySetView;
    }

    /**
     * Counts a key. The budget has already been charged for hashing it. Returns the number of steps to charge for each
     * value in the key. The key is compared with all earlier keys that have the same hash code. The result is an upper
     * bound, because keys with other hash codes can share the counter.
     */
    private int sameHash(Object key, Object container) {
        int[] counts = places;
        if (counts == null) {
            counts = new int[PLACES];
            places = counts;
        }
        isCounted = true;
        int mixed = (key.hashCode() ^ System.identityHashCode(container)) * 0x9e3779b9;
        int same = counts[(mixed ^ mixed >>> 16) & PLACES - 1]++;
        // Keys with different hash codes can share a counter. To compensate for these keys, four times the average of
        // all counters is subtracted from the value of this counter.
        int excess = same - limits.equalKeys() - (int) (4L * counted++ / PLACES);
        return excess > 0 && key.getClass().getName().startsWith("java.") ? same + EQUAL_STEPS * excess : same;
    }

    /**
     * Charges the budget for a key that refers to incomplete containers, whose contents are still being read. The usual
     * case is a set of children that all refer to their parent. In this case, all keys refer to the same single
     * container. The cost is then {@code part}, because comparing two keys does not visit that container. Otherwise,
     * the cost is {@code part} × the number of keys including this key. Bit masks represent sets of containers.
     *
     * @param part the part of the key's weight that comes from references to incomplete containers
     * @param referred the incomplete containers that this key refers to
     * @param before the return value for the previous key; 0 for the first key
     * @param keys the number of earlier keys
     * @return the union of {@code referred} and {@code before}
     */
    long chargeOpen(long part, long referred, long before, int keys) {
        boolean same = Long.bitCount(referred | before) == 1;
        spend(same ? part : OpenContainers.capped(part) * (keys + 1L));
        return referred | before;
    }

    /** Charges the budget for comparing an element with the earlier elements of a priority queue. */
    void chargeCompared(long weight) {
        spend(weight * COMPARISONS);
    }

    /**
     * Limits the number of keys with equal hash codes in one container. Called before a key is added, unless
     * {@code state} is the class of the key.
     *
     * @param state the return value for the previous key; null for the first key
     * @param keys the keys in the container so far
     * @return the state including this key
     */
    @Nullable
    Object chargeEqual(@Nullable Object state, @Nullable Object key, Collection<?> keys) {
        boolean composite = !isScalar(key);
        int max = limits.equalKeys() + (composite ? limits.nonScalarKeys() : 0);
        return EqualHashes.with(state, key, keys, composite, max < 0 ? Integer.MAX_VALUE : max);
    }

    private void spend(long visits) {
        work = visits < 0 ? -1 : work + visits;
        if (work > allowed || work < 0) {
            throw new SerializationException("keys whose hashing would take too long: more than " + allowed
                    + " steps in a message of " + bytes + " bytes, where rpc.limits.max-key-steps allows "
                    + limits.keySteps() + " for " + FULL_BYTES + " bytes and less for smaller messages; keys that"
                    + " refer to the same list, map or object several times take the most steps");
        }
        if (work > allowedWithoutTurn && turn == null) {
            takeTurn();
        }
    }

    private void takeTurn() {
        try {
            turn = LargeWork.startHashing(bytes, sender);
        } catch (RpcException e) {
            refusal = e;
            throw e;
        }
    }

    /**
     * Releases the permit, so that another message may hash many keys. Called when a value has been read, even if
     * reading has failed.
     */
    void endTurn() {
        LargeWork held = turn;
        if (held != null) {
            turn = null;
            LargeWork.end(held);
        }
    }

    /** Returns whether the exception was thrown because too many other messages are currently hashing many keys. */
    boolean isRefusal(RuntimeException failure) {
        return failure == refusal;
    }

    /**
     * Returns whether hashing the key costs a single step of the budget. {@link #chargeEqual} limits the number of such
     * keys with equal hash codes.
     */
    private static boolean isScalar(@Nullable Object key) {
        return key == null
                || key instanceof String
                || key instanceof Enum
                || (key instanceof Comparable && key.getClass().getName().startsWith("java."));
    }
}
