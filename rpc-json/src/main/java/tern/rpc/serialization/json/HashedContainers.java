package tern.rpc.serialization.json;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.EqualHashes;
import tern.rpc.serialization.SerializationException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.ValueDeserializerModifier;
import tools.jackson.databind.deser.std.DelegatingDeserializer;
import tools.jackson.databind.type.CollectionType;
import tools.jackson.databind.type.MapType;

/**
 * Protects sets and maps from senders that choose keys with equal hash codes. A hash table remains fast if these keys
 * can be ordered, as strings and numbers can. A key that cannot be ordered is compared with every earlier key that has
 * the same hash code. Some containers take quadratic time if elements are added one by one. Such a container is filled
 * in one step, from another container that is decoded first.
 */
final class HashedContainers extends ValueDeserializerModifier {

    private static final long serialVersionUID = 1L;

    /** The functions that create the declared class from the decoded elements. */
    private static final Map<Class<?>, Function<Collection<Object>, Collection<Object>>> COLLECTIONS = Map.of(
            HashSet.class, HashSet::new,
            CopyOnWriteArraySet.class, CopyOnWriteArraySet::new,
            CopyOnWriteArrayList.class, CopyOnWriteArrayList::new);

    private static final Map<Class<?>, Function<Map<Object, Object>, Map<Object, Object>>> MAPS = Map.of(
            HashMap.class, HashMap::new,
            ConcurrentHashMap.class, ConcurrentHashMap::new,
            Hashtable.class, Hashtable::new);

    private final transient JsonLimits limits;

    HashedContainers(JsonLimits limits) {
        this.limits = limits;
    }

    @Override
    public ValueDeserializer<?> modifyCollectionDeserializer(
            DeserializationConfig config,
            CollectionType type,
            BeanDescription.Supplier description,
            ValueDeserializer<?> deserializer) {
        Class<?> raw = type.getRawClass();
        if (raw == CopyOnWriteArrayList.class) {
            return new Bounded(deserializer, raw, limits, Kind.ORDERED);
        }
        boolean set = Set.class.isAssignableFrom(raw) && raw.isAssignableFrom(LinkedHashSet.class);
        if (!set && raw != CopyOnWriteArraySet.class) {
            return deserializer;
        }
        // A CopyOnWriteArraySet compares each added element with all earlier elements, even if the elements can be
        // ordered.
        Kind kind = raw == CopyOnWriteArraySet.class ? Kind.COMPOSITE : Kind.of(type.getContentType());
        return kind == Kind.ORDERED ? deserializer : new Bounded(deserializer, raw, limits, kind);
    }

    @Override
    public ValueDeserializer<?> modifyMapDeserializer(
            DeserializationConfig config,
            MapType type,
            BeanDescription.Supplier description,
            ValueDeserializer<?> deserializer) {
        Class<?> raw = type.getRawClass();
        if (!raw.isAssignableFrom(LinkedHashMap.class)
                && !raw.isAssignableFrom(ConcurrentHashMap.class)
                && raw != Hashtable.class) {
            return deserializer;
        }
        // If no key type is declared, the keys are strings. A Hashtable searches keys with equal hash codes one by one.
        Kind kind = raw == Hashtable.class
                ? Kind.COMPOSITE
                : type.getKeyType().isJavaLangObject() ? Kind.ORDERED : Kind.of(type.getKeyType());
        return kind == Kind.ORDERED ? deserializer : new Bounded(deserializer, raw, limits, kind);
    }

    /** Determines how a hash table handles keys of one class with equal hash codes. */
    private enum Kind {
        /** The class of the keys is comparable, so the hash table can arrange keys with equal hash codes in a tree. */
        ORDERED,
        /**
         * The keys of the class cannot be ordered, so the hash table searches keys with equal hash codes one by one.
         * Each key is small, for example a time whose class is Comparable only through its supertype.
         */
        SCALAR,
        COMPOSITE;

        static Kind of(JavaType type) {
            Class<?> raw = type.getRawClass();
            if (raw.isEnum() || (raw.getName().startsWith("java.") && EqualHashes.isOrdered(raw))) {
                return ORDERED;
            }
            return raw.getName().startsWith("java.")
                            && Comparable.class.isAssignableFrom(raw)
                            && raw != Comparable.class
                            && !raw.isInterface()
                    ? SCALAR
                    : COMPOSITE;
        }
    }

    private static final class Bounded extends DelegatingDeserializer {
        private final Class<?> type;
        private final transient JsonLimits limits;
        private final Kind kind;

        Bounded(ValueDeserializer<?> delegate, Class<?> type, JsonLimits limits, Kind kind) {
            super(delegate);
            this.type = type;
            this.limits = limits;
            this.kind = kind;
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) {
            boolean map = Map.class.isAssignableFrom(type);
            if (!parser.hasToken(map ? JsonToken.START_OBJECT : JsonToken.START_ARRAY)) {
                return super.deserialize(parser, context);
            }
            if (map) {
                Map<Object, Object> counted = new CountedMap(new Count(limits, kind, parser, "keys of a map"));
                super.deserialize(parser, context, counted);
                return MAPS.getOrDefault(kindOfMap(), LinkedHashMap::new).apply(counted);
            }
            Collection<Object> counted = kind == Kind.ORDERED
                    ? new ArrayList<>()
                    : counted(new Count(limits, kind, parser, "elements of a set"));
            super.deserialize(parser, context, counted);
            return COLLECTIONS.getOrDefault(kindOfSet(), LinkedHashSet::new).apply(counted);
        }

        /**
         * Returns a collection for the elements of a set. Composite elements are first collected in a list, so that
         * they are hashed and compared only once, when the set is built.
         */
        private Collection<Object> counted(Count count) {
            return kind == Kind.COMPOSITE ? new CountedList(count) : new CountedSet(count);
        }

        /** Returns the map class that Jackson creates if the declared type is an interface. */
        private Class<?> kindOfMap() {
            return !type.isAssignableFrom(LinkedHashMap.class) && type.isAssignableFrom(ConcurrentHashMap.class)
                    ? ConcurrentHashMap.class
                    : type;
        }

        private Class<?> kindOfSet() {
            return type != LinkedHashSet.class && type.isAssignableFrom(HashSet.class) ? HashSet.class : type;
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> delegate) {
            return new Bounded(delegate, type, limits, kind);
        }
    }

    /** Counts the keys of one container. */
    private static final class Count {
        private static final int PLACES = 1 << 12;

        /** The minimum number of keys in a container before its composite keys are counted. */
        private static final int FEW = 32;

        /**
         * A container of at least this encoded size may use all {@link JsonLimits#keySteps} steps to compare keys that
         * are lists or maps. A smaller container may use a proportional part. Comparisons with the first
         * {@link JsonLimits#equalKeys} keys with the same hash code do not count towards this part. Equal hash codes of
         * lists and maps are rare, because the hash code depends on the contents. The reduced limit does not apply to
         * entities, because entities often have a constant hash code.
         */
        private static final int FULL_BYTES = 16 << 20;

        private final JsonLimits limits;
        private final Kind kind;
        private final JsonParser parser;
        private final String what;
        private int @Nullable [] equal;
        private @Nullable Object classes;
        private long steps;
        private long stepsOfContainers;
        private long position;
        private final long start;

        Count(JsonLimits limits, Kind kind, JsonParser parser, String what) {
            this.limits = limits;
            this.kind = kind;
            this.parser = parser;
            this.what = what;
            this.start = position();
        }

        void add(@Nullable Object key, Collection<?> before) {
            if (kind == Kind.SCALAR) {
                scalar(key, before);
                return;
            }
            if (before.size() >= limits.nonScalarKeys()) {
                throw new StreamConstraintsException("more than " + limits.nonScalarKeys() + ' ' + what
                        + " that are not scalars; the limit is rpc.limits.max-composite-keys");
            }
            if (before.size() >= FEW) {
                composite(key);
            }
        }

        private void scalar(@Nullable Object key, Collection<?> before) {
            try {
                classes = EqualHashes.with(classes, key, before, false, limits.equalKeys());
            } catch (SerializationException tooMany) {
                throw new StreamConstraintsException(tooMany.getMessage());
            }
        }

        /**
         * Adds a composite key's cost to the container's count. The table compares the key with all earlier keys that
         * have the same hash code, and each comparison may visit the whole key.
         */
        private void composite(@Nullable Object key) {
            long now = position();
            long length = position == 0 ? 0 : now - position;
            position = now;
            if (key == null) {
                return;
            }
            int[] places = equal;
            if (places == null) {
                places = new int[PLACES];
                equal = places;
            }
            int hash = key.hashCode();
            int place = (hash ^ hash >>> 12 ^ hash >>> 24) & PLACES - 1;
            int same = places[place]++;
            steps += same * length;
            if (same > limits.equalKeys() && key.getClass().getName().startsWith("java.")) {
                stepsOfContainers += (same - limits.equalKeys()) * length;
            }
            if (steps > limits.keySteps() || stepsOfContainers > allowed(now - start)) {
                throw new StreamConstraintsException(what + " whose comparison would take too long: more than "
                        + (steps > limits.keySteps() ? limits.keySteps() : allowed(now - start))
                        + " steps; the limit is rpc.limits.max-key-steps, and less for small lists or maps");
            }
        }

        private long allowed(long characters) {
            double part = (double) characters / FULL_BYTES;
            return part >= 1 ? limits.keySteps() : Math.max(1, (long) (limits.keySteps() * part));
        }

        private long position() {
            TokenStreamLocation location = parser.currentLocation();
            return Math.max(location.getByteOffset(), location.getCharOffset());
        }
    }

    private static final class CountedList extends ArrayList<Object> {
        private static final long serialVersionUID = 1L;
        private final transient Count count;

        CountedList(Count count) {
            this.count = count;
        }

        @Override
        public boolean add(Object element) {
            count.add(element, this);
            return super.add(element);
        }
    }

    private static final class CountedSet extends LinkedHashSet<Object> {
        private static final long serialVersionUID = 1L;
        private final transient Count count;

        CountedSet(Count count) {
            this.count = count;
        }

        @Override
        public boolean add(Object element) {
            count.add(element, this);
            return super.add(element);
        }
    }

    private static final class CountedMap extends LinkedHashMap<Object, Object> {
        private static final long serialVersionUID = 1L;
        private final transient Count count;

        CountedMap(Count count) {
            this.count = count;
        }

        @Override
        public @Nullable Object put(Object key, @Nullable Object value) {
            count.add(key, keySet());
            return super.put(key, value);
        }
    }
}
