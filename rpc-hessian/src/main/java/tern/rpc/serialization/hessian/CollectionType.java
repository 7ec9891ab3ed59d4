package tern.rpc.serialization.hessian;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedSet;
import java.util.Stack;
import java.util.TreeSet;
import java.util.Vector;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** A collection type whose instances the reader creates empty and then fills. Immutable. */
final class CollectionType {

    private static final CollectionType ARRAY_LIST = of(ArrayList.class, ArrayList::new);
    private static final CollectionType LINKED_HASH_SET = of(LinkedHashSet.class, size -> new LinkedHashSet<>());
    private static final CollectionType LINKED_LIST = of(LinkedList.class, size -> new LinkedList<>());
    private static final CollectionType TREE_SET = of(TreeSet.class, size -> new TreeSet<>());

    /**
     * The types to create for a declared interface: the first type in this list that implements the interface is used.
     */
    private static final List<CollectionType> DEFAULTS = List.of(
            ARRAY_LIST,
            of(HashSet.class, size -> new HashSet<>()),
            LINKED_LIST,
            TREE_SET,
            of(LinkedBlockingDeque.class, size -> new LinkedBlockingDeque<>()),
            of(LinkedTransferQueue.class, size -> new LinkedTransferQueue<>()));

    private static final Map<String, CollectionType> BY_NAME = byName();

    private final Class<?> type;
    private final IntFunction<? extends Collection<Object>> empty;
    private final @Nullable Function<Collection<Object>, Collection<Object>> finished;
    private final boolean set;
    private final boolean hashed;
    private final boolean heap;
    private final int shellBytes;

    private CollectionType(
            Class<?> type,
            IntFunction<? extends Collection<Object>> empty,
            @Nullable Function<Collection<Object>, Collection<Object>> finished) {
        this.type = type;
        this.empty = empty;
        this.finished = finished;
        this.set = Set.class.isAssignableFrom(type);
        this.hashed = set && !SortedSet.class.isAssignableFrom(type);
        this.heap = PriorityQueue.class.isAssignableFrom(type) || PriorityBlockingQueue.class.isAssignableFrom(type);
        this.shellBytes = BlockingQueue.class.isAssignableFrom(type) ? 192 : type == ArrayDeque.class ? 64 : 0;
    }

    /** Returns the class of the finished collection. */
    Class<?> type() {
        return type;
    }

    /**
     * Creates an empty collection.
     *
     * @param size the expected number of elements; 0 if it is unknown
     */
    Collection<Object> empty(int size) {
        return empty.apply(size);
    }

    /**
     * Returns a function that converts the filled collection to the final collection, or null if no conversion is
     * needed. A conversion is needed if adding elements to the final collection one by one would take quadratic time.
     */
    @Nullable
    Function<Collection<Object>, Collection<Object>> finished() {
        return finished;
    }

    boolean isSet() {
        return set;
    }

    /** Returns whether the type is a set that uses the hash codes of its elements. */
    boolean isHashed() {
        return hashed;
    }

    /**
     * Returns whether the type is a heap, such as a priority queue. A heap is not a set, but it compares each added
     * element with other elements.
     */
    boolean isHeap() {
        return heap;
    }

    /**
     * Returns the memory of an empty collection in bytes, minus the memory that the reader assumes for every value in a
     * message. Blocking queues need more memory because of their locks, and array deques because of their initial
     * array.
     */
    int shellBytes() {
        return shellBytes;
    }

    /**
     * Returns the collection type for a class name in a message, or null if the name is unknown. Views and wrappers of
     * the JDK have private classes, whose names are mapped to public types.
     */
    static @Nullable CollectionType named(String name) {
        return BY_NAME.get(name);
    }

    /**
     * Returns the collection type to create for a declared class. Called if the message names no type that is
     * assignable to that class. Returns null if no supported type is assignable.
     */
    static @Nullable CollectionType fitting(Class<?> declared) {
        CollectionType exact = BY_NAME.get(declared.getName());
        if (exact != null && exact.type == declared) {
            return exact;
        }
        for (CollectionType candidate : DEFAULTS) {
            if (declared.isAssignableFrom(candidate.type)) {
                return candidate;
            }
        }
        return null;
    }

    /**
     * Returns the collection type that replaces a class named in the message, if this process does not create instances
     * of that class. The replacement is assignable to the declared class. If the replacement is a set, it keeps the
     * order of the message. Returns null if the declared class is not a JDK collection type.
     */
    static @Nullable CollectionType replacement(Class<?> declared) {
        if (ClassOrigin.isOfApplication(declared)
                || !(declared == Iterable.class || Collection.class.isAssignableFrom(declared))) {
            return null;
        }
        boolean isSet = Set.class.isAssignableFrom(declared) && declared.isAssignableFrom(LinkedHashSet.class);
        return isSet ? LINKED_HASH_SET : fitting(declared);
    }

    static CollectionType of(Class<?> type, IntFunction<? extends Collection<Object>> empty) {
        return new CollectionType(type, empty, null);
    }

    private static Map<String, CollectionType> byName() {
        Map<String, CollectionType> types = new HashMap<>();
        for (CollectionType type : DEFAULTS) {
            types.put(type.type.getName(), type);
        }
        for (CollectionType type : List.of(
                LINKED_HASH_SET,
                of(Vector.class, size -> new Vector<>()),
                of(Stack.class, size -> new Stack<>()),
                of(ArrayDeque.class, size -> new ArrayDeque<>()),
                of(PriorityQueue.class, size -> new PriorityQueue<>()),
                of(ConcurrentSkipListSet.class, size -> new ConcurrentSkipListSet<>()),
                of(ConcurrentLinkedQueue.class, size -> new ConcurrentLinkedQueue<>()),
                of(ConcurrentLinkedDeque.class, size -> new ConcurrentLinkedDeque<>()),
                of(LinkedBlockingQueue.class, size -> new LinkedBlockingQueue<>()),
                of(PriorityBlockingQueue.class, size -> new PriorityBlockingQueue<>()),
                new CollectionType(CopyOnWriteArrayList.class, ArrayList::new, CopyOnWriteArrayList::new))) {
            types.put(type.type.getName(), type);
        }
        name(types, "java.util.Arrays$", ARRAY_LIST, "ArrayList");
        name(types, "java.util.ImmutableCollections$", ARRAY_LIST, "List12", "ListN", "SubList");
        name(types, "java.util.ImmutableCollections$", LINKED_HASH_SET, "Set12", "SetN");
        name(types, "java.util.Collections$", ARRAY_LIST, "EmptyList", "SingletonList", "CopiesList");
        name(types, "java.util.Collections$Unmodifiable", ARRAY_LIST, "List", "RandomAccessList", "Collection");
        name(types, "java.util.Collections$Synchronized", ARRAY_LIST, "List", "RandomAccessList", "Collection");
        name(types, "java.util.Collections$Checked", ARRAY_LIST, "List", "RandomAccessList", "Collection");
        name(types, "java.util.Collections$", LINKED_HASH_SET, "EmptySet", "SingletonSet", "SetFromMap");
        name(types, "java.util.Collections$", LINKED_HASH_SET, "UnmodifiableSet", "SynchronizedSet", "CheckedSet");
        name(types, "java.util.Collections$", LINKED_HASH_SET, "UnmodifiableSequencedSet");
        name(types, "java.util.Collections$Unmodifiable", TREE_SET, "SortedSet", "NavigableSet");
        name(types, "java.util.Collections$Synchronized", TREE_SET, "SortedSet", "NavigableSet");
        name(types, "java.util.concurrent.", LINKED_HASH_SET, "CopyOnWriteArraySet");
        name(
                types,
                "java.util.concurrent.",
                of(LinkedBlockingQueue.class, n -> new LinkedBlockingQueue<>()),
                "ArrayBlockingQueue");
        types.put(
                "java.util.concurrent.ConcurrentHashMap$KeySetView",
                of(ConcurrentHashMap.KeySetView.class, size -> ConcurrentHashMap.newKeySet()));
        return Map.copyOf(types);
    }

    private static void name(Map<String, CollectionType> types, String prefix, CollectionType type, String... names) {
        for (String name : names) {
            types.put(prefix + name, type);
        }
    }
}
