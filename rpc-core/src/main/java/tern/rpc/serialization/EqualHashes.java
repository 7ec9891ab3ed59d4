package tern.rpc.serialization;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of keys with equal hash that a hash table of the JDK would search linearly. Such a table builds a
 * tree of keys with equal hash. But it can only order keys of one class that implements {@link Comparable} of itself.
 * Keys of different classes are searched linearly, and so are times such as {@code LocalDateTime}, which are comparable
 * to a supertype.
 *
 * <p>Keys are counted by their hash in a few slots; two hashes may share a slot. A container with keys of one ordered
 * class, the usual case, is not counted and needs no memory. Not thread-safe.
 */
public final class EqualHashes {

    /** The state of a small container with keys of several classes. */
    private static final Object MIXED = new Object();

    /** Containers up to this size are not counted. */
    private static final int FEW = 64;

    private static final int KEYS_PER_PLACE = 16;
    private static final int MIN_PLACES = 64;

    /**
     * Random numbers, so that a sender cannot know which hashes share a slot. Created when a key is counted for the
     * first time.
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
     * Counts a key before it is put, if its class differs from the current state.
     *
     * @param state the result of the last call for this container; null at first
     * @param keys the keys in the container so far
     * @param bounded whether keys of this class are limited in another way
     * @param limit the largest number of keys with equal hash
     * @return the state of the container with this key
     * @throws SerializationException if there are too many keys of equal hash
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
     * Whether a hash table can order instances of a class. This is the rule of {@code HashMap} and {@code
     * ConcurrentHashMap}.
     */
    public static boolean isOrdered(Class<?> type) {
        return type == String.class || ORDERED.get(type);
    }

    /** Whether the key is null, which can occur once, or a constant, whose hash the sender cannot choose. */
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
                    + " hash and no order, the last being a " + key.getClass().getName()
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
