package tern.rpc.serialization;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of keys with equal hashes that a JDK hash table would have to search linearly. The table stores
 * keys with equal hashes in a tree. The tree is ordered only if all of its keys have the same class {@code C} and this
 * class implements {@code Comparable<C>}. Keys of different classes are searched linearly. Keys such as {@code
 * LocalDateTime} are also searched linearly, because this class implements {@code Comparable} with a supertype as the
 * type argument.
 *
 * <p>Keys are counted by hash in a limited number of slots, so two hashes can share a slot. Usually, all keys of a
 * container have the same class, and its instances can be ordered. Such keys are not counted, so that they need no
 * memory in this object. Not thread-safe.
 */
public final class EqualHashes {

    /**
     * The state of a container with fewer than 64 keys, if its keys have several classes, or a class whose instances
     * cannot be ordered.
     */
    private static final Object MIXED = new Object();

    /** The minimum number of keys in a container before its keys are counted. */
    private static final int FEW = 64;

    private static final int KEYS_PER_PLACE = 16;
    private static final int MIN_PLACES = 64;

    /**
     * Random numbers that determine the slot of a hash. Created when a key is counted for the first time. Because of
     * these numbers, a sender cannot know which hashes share a slot.
     */
    private static final class Secret {

        static final int SEED;
        static final int FACTOR;

        static {
            SecureRandom random = new SecureRandom();
            SEED = random.nextInt();
            FACTOR = random.nextInt() | 1;
        }
    }

    private static final ClassValue<Boolean> ORDERED = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            for (Type implemented : type.getGenericInterfaces()) {
                if (implemented instanceof ParameterizedType comparable
                        && comparable.getRawType() == Comparable.class
                        && comparable.getActualTypeArguments()[0] == type) {
                    return true;
                }
            }
            return false;
        }
    };

    private final Collection<?> keys;
    private int[] places = new int[MIN_PLACES];
    private int counted;

    private EqualHashes(Collection<?> keys) {
        this.keys = keys;
    }

    /**
     * Counts a key before it is added to a container. Keys are not counted while all of them have the same class and a
     * hash table can order its instances ({@link #isOrdered}).
     *
     * @param state the result of the previous call for this container, or null for the first call
     * @param keys the keys in the container so far
     * @param bounded whether another limit applies to keys of this class
     * @param limit the maximum number of keys with equal hashes
     * @return the state of the container with this key
     * @throws SerializationException if too many keys have equal hashes
     */
    public static @Nullable Object with(
            @Nullable Object state, @Nullable Object key, Collection<?> keys, boolean bounded, int limit) {
        if (state instanceof EqualHashes hashes) {
            hashes.add(key, limit);
            return hashes;
        }
        if (isHarmless(key)) {
            return state;
        }
        if (state == null && key != null && keys.isEmpty() && (bounded || isOrdered(key.getClass()))) {
            return key.getClass();
        }
        if (keys.size() < FEW) {
            return MIXED;
        }
        EqualHashes hashes = new EqualHashes(keys);
        hashes.count();
        hashes.add(key, limit);
        return hashes;
    }

    /**
     * Returns whether a hash table can order instances of a class by {@code compareTo} if their hashes are equal.
     * {@code HashMap} and {@code ConcurrentHashMap} use the same rule.
     */
    public static boolean isOrdered(Class<?> type) {
        return type == String.class || ORDERED.get(type);
    }

    /**
     * Returns whether the key is null or an enum constant. Null and enum constants are harmless as keys: null can occur
     * only once, and the sender cannot choose the hash of an enum constant.
     */
    private static boolean isHarmless(@Nullable Object key) {
        return key == null || key instanceof Enum;
    }

    private void add(@Nullable Object key, int limit) {
        if (key == null || isHarmless(key)) {
            return;
        }
        if (++counted > places.length * KEYS_PER_PLACE) {
            places = new int[places.length * KEYS_PER_PLACE];
            count();
        }
        int number = ++places[place(key.hashCode())];
        if (number > limit) {
            throw new SerializationException("more than " + limit
                    + " keys of a map, or elements of a set, have the same"
                    + " hash code and cannot be ordered; the last one is a "
                    + key.getClass().getName()
                    + "; the limit is rpc.limits.max-equal-keys");
        }
    }

    private void count() {
        Arrays.fill(places, 0);
        counted = 0;
        for (Object key : keys) {
            if (key != null && !isHarmless(key)) {
                counted++;
                places[place(key.hashCode())]++;
            }
        }
    }

    private int place(int hash) {
        int mixed = (hash ^ Secret.SEED) * Secret.FACTOR;
        mixed = (mixed ^ mixed >>> 15) * Secret.FACTOR;
        return (mixed ^ mixed >>> 16) & places.length - 1;
    }
}
