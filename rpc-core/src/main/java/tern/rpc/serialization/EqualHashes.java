package tern.rpc.serialization;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Finds keys of equal hash which a hash table of the JDK searches one after the other. Such a table makes a tree of keys
 * of equal hash, but it can only order keys of one class that implements {@link Comparable} of itself. Keys of two
 * classes, and times such as {@code LocalDateTime} that are comparable to a supertype, are searched one by one.
 *
 * <p>Keys are counted by their hash in a few places; two hashes may share one. Of a container that holds keys of one
 * ordered class, which nearly all do, nothing is counted and nothing is made. Not thread-safe.
 */
public final class EqualHashes {

    /** The state of a container with keys of several classes that is still small. */
    private static final Object MIXED = new Object();

    /** Keys up to which nothing is counted. */
    private static final int FEW = 64;

    private static final int KEYS_PER_PLACE = 16;
    private static final int MIN_PLACES = 64;

    /** Nobody outside knows which hashes share a place. Made only when something is counted. */
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
     * Takes account of a key that is about to be put, and of which the class is not the present state.
     *
     * @param state what the last call for this container answered, null at first
     * @param keys of the container so far
     * @param bounded whether the container bounds the keys of this class otherwise
     * @param limit of keys of equal hash with this one
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

    /** Whether a hash table can order instances of a class: the rule of {@code HashMap} and {@code ConcurrentHashMap}. */
    public static boolean isOrdered(Class<?> type) {
        return type == String.class || ORDERED.get(type);
    }

    /** There is one null, and a sender does not choose the hashes of constants. */
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
