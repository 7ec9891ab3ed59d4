package tern.rpc.serialization.hessian;

import java.util.HashMap;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A kind of map that can be made empty and filled. Immutable.
 *
 * @param type what comes out
 * @param empty makes one
 */
record MapType(Class<?> type, Supplier<? extends Map<?, ?>> empty) {

    static final MapType HASH_MAP = new MapType(HashMap.class, HashMap::new);
    private static final MapType LINKED_HASH_MAP = new MapType(LinkedHashMap.class, LinkedHashMap::new);
    private static final MapType TREE_MAP = new MapType(TreeMap.class, TreeMap::new);
    private static final MapType HASHTABLE = new MapType(Hashtable.class, Hashtable::new);

    /** For a declared interface, the first that fits. */
    private static final List<MapType> DEFAULTS = List.of(
            HASH_MAP,
            LINKED_HASH_MAP,
            TREE_MAP,
            new MapType(ConcurrentHashMap.class, ConcurrentHashMap::new),
            new MapType(ConcurrentSkipListMap.class, ConcurrentSkipListMap::new),
            HASHTABLE);

    private static final Map<String, MapType> BY_NAME = byName();

    /** Whether keys of equal hash make a chain that is searched from its start; other tables make a tree of it. */
    boolean isChained() {
        return Hashtable.class.isAssignableFrom(type) && !Properties.class.isAssignableFrom(type);
    }

    /** Whether keys are found by their hash; others are compared in their order, or hashed by identity. */
    boolean isHashed() {
        return !SortedMap.class.isAssignableFrom(type) && type != IdentityHashMap.class;
    }

    /** What an empty one takes beyond the room of a value: some have their table from the beginning. */
    int shellBytes() {
        return type == IdentityHashMap.class ? 256 : Hashtable.class.isAssignableFrom(type) ? 80 : 0;
    }

    /** By the class name on the wire, which for views and wrappers of the JDK is that of a private class. */
    static @Nullable MapType named(String name) {
        return BY_NAME.get(name);
    }

    /** The one to make for a declared type when the message does not say, or says one that does not fit. */
    static @Nullable MapType fitting(Class<?> declared) {
        MapType exact = BY_NAME.get(declared.getName());
        if (exact != null && exact.type == declared) {
            return exact;
        }
        for (MapType candidate : DEFAULTS) {
            if (declared.isAssignableFrom(candidate.type)) {
                return candidate;
            }
        }
        return null;
    }

    private static Map<String, MapType> byName() {
        Map<String, MapType> types = new HashMap<>();
        for (MapType type : DEFAULTS) {
            types.put(type.type.getName(), type);
        }
        types.put("java.util.Properties", new MapType(Properties.class, Properties::new));
        types.put("java.util.IdentityHashMap", new MapType(IdentityHashMap.class, IdentityHashMap::new));
        for (String name : List.of("EmptyMap", "SingletonMap", "UnmodifiableMap", "SynchronizedMap", "CheckedMap")) {
            types.put("java.util.Collections$" + name, LINKED_HASH_MAP);
        }
        for (String name : List.of("SortedMap", "NavigableMap")) {
            types.put("java.util.Collections$Unmodifiable" + name, TREE_MAP);
            types.put("java.util.Collections$Synchronized" + name, TREE_MAP);
        }
        types.put("java.util.Collections$UnmodifiableSequencedMap", LINKED_HASH_MAP);
        types.put("java.util.ImmutableCollections$Map1", HASH_MAP);
        types.put("java.util.ImmutableCollections$MapN", HASH_MAP);
        return Map.copyOf(types);
    }
}
