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
 * A map type that can be created empty and then filled. Immutable.
 *
 * @param type the class of the map
 * @param empty a supplier of empty maps
 */
record MapType(Class<?> type, Supplier<? extends Map<?, ?>> empty) {

    static final MapType HASH_MAP = new MapType(HashMap.class, HashMap::new);
    private static final MapType LINKED_HASH_MAP = new MapType(LinkedHashMap.class, LinkedHashMap::new);
    private static final MapType TREE_MAP = new MapType(TreeMap.class, TreeMap::new);
    private static final MapType HASHTABLE = new MapType(Hashtable.class, Hashtable::new);

    /**
     * The types to create for a declared interface: the first type in this list that implements the interface is used.
     */
    private static final List<MapType> DEFAULTS = List.of(
            HASH_MAP,
            LINKED_HASH_MAP,
            TREE_MAP,
            new MapType(ConcurrentHashMap.class, ConcurrentHashMap::new),
            new MapType(ConcurrentSkipListMap.class, ConcurrentSkipListMap::new),
            HASHTABLE);

    private static final Map<String, MapType> BY_NAME = byName();

    /**
     * Returns whether the map searches keys with equal hash codes one by one. Other maps arrange such keys in a tree.
     */
    boolean isChained() {
        return Hashtable.class.isAssignableFrom(type) && !Properties.class.isAssignableFrom(type);
    }

    /** Returns whether the map finds keys by their hash codes. Other maps find keys by order or identity. */
    boolean isHashed() {
        return !SortedMap.class.isAssignableFrom(type) && type != IdentityHashMap.class;
    }

    /**
     * Returns the memory of an empty map in bytes, minus the memory that the reader assumes for every value in a
     * message. Some map types allocate their table immediately.
     */
    int shellBytes() {
        return type == IdentityHashMap.class ? 256 : Hashtable.class.isAssignableFrom(type) ? 80 : 0;
    }

    /**
     * Returns the map type for a class name in a message, or null if the name is unknown. Views and wrappers of the JDK
     * have private classes, whose names are mapped to public types.
     */
    static @Nullable MapType named(String name) {
        return BY_NAME.get(name);
    }

    /**
     * Returns the map type to create for a declared class. Called if the message names no type that is assignable to
     * that class. Returns null if no supported type is assignable.
     */
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

    /**
     * Returns the map type that replaces a class named in the message, if this process does not create instances of
     * that class. The replacement is assignable to the declared class and, if possible, keeps the order of the message.
     * Returns null if the declared class is not a JDK map type.
     */
    static @Nullable MapType replacement(Class<?> declared) {
        if (ClassOrigin.isOfApplication(declared) || !Map.class.isAssignableFrom(declared)) {
            return null;
        }
        return declared.isAssignableFrom(LinkedHashMap.class) ? LINKED_HASH_MAP : fitting(declared);
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
