package tern.rpc.serialization.json;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
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
 * Bounds sets of, and maps by, values whose hashes a sender can make equal. A hash table copes with equal hashes when
 * its keys have an order, as text and numbers do; with others, each new one is compared with all before.
 */
final class HashedContainers extends ValueDeserializerModifier {

    private static final long serialVersionUID = 1L;

    private final int limit;

    HashedContainers(JsonLimits limits) {
        this.limit = limits.nonScalarKeys();
    }

    @Override
    public ValueDeserializer<?> modifyCollectionDeserializer(
            DeserializationConfig config,
            CollectionType type,
            BeanDescription.Supplier description,
            ValueDeserializer<?> deserializer) {
        Class<?> raw = type.getRawClass();
        boolean hashed = Set.class.isAssignableFrom(raw) && raw.isAssignableFrom(LinkedHashSet.class);
        return hashed && !isOrdered(type.getContentType()) ? new BoundedSet(deserializer, raw, limit) : deserializer;
    }

    @Override
    public ValueDeserializer<?> modifyMapDeserializer(
            DeserializationConfig config,
            MapType type,
            BeanDescription.Supplier description,
            ValueDeserializer<?> deserializer) {
        Class<?> raw = type.getRawClass();
        boolean hashed = raw.isAssignableFrom(LinkedHashMap.class);
        // Keys of no declared type are text.
        boolean ordered = type.getKeyType().isJavaLangObject() || isOrdered(type.getKeyType());
        return hashed && !ordered ? new BoundedMap(deserializer, raw, limit) : deserializer;
    }

    private static boolean isOrdered(JavaType type) {
        Class<?> raw = type.getRawClass();
        return raw.isEnum()
                || (Comparable.class.isAssignableFrom(raw) && raw.getName().startsWith("java."));
    }

    private static void check(int size, int limit, String what) {
        if (size >= limit) {
            throw new StreamConstraintsException("more than " + limit + ' ' + what + " that are not scalars");
        }
    }

    private static final class BoundedSet extends DelegatingDeserializer {
        private final Class<?> type;
        private final int limit;

        BoundedSet(ValueDeserializer<?> delegate, Class<?> type, int limit) {
            super(delegate);
            this.type = type;
            this.limit = limit;
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) {
            if (!parser.hasToken(JsonToken.START_ARRAY)) {
                return super.deserialize(parser, context);
            }
            Set<Object> counted = new CountedSet(limit);
            super.deserialize(parser, context, counted);
            return type == LinkedHashSet.class ? new LinkedHashSet<>(counted) : new HashSet<>(counted);
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> delegate) {
            return new BoundedSet(delegate, type, limit);
        }
    }

    private static final class CountedSet extends LinkedHashSet<Object> {
        private static final long serialVersionUID = 1L;
        private final int limit;

        CountedSet(int limit) {
            this.limit = limit;
        }

        @Override
        public boolean add(Object element) {
            check(size(), limit, "elements of a set");
            return super.add(element);
        }
    }

    private static final class BoundedMap extends DelegatingDeserializer {
        private final Class<?> type;
        private final int limit;

        BoundedMap(ValueDeserializer<?> delegate, Class<?> type, int limit) {
            super(delegate);
            this.type = type;
            this.limit = limit;
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) {
            if (!parser.hasToken(JsonToken.START_OBJECT)) {
                return super.deserialize(parser, context);
            }
            Map<Object, Object> counted = new CountedMap(limit);
            super.deserialize(parser, context, counted);
            return type == HashMap.class ? new HashMap<>(counted) : new LinkedHashMap<>(counted);
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> delegate) {
            return new BoundedMap(delegate, type, limit);
        }
    }

    private static final class CountedMap extends LinkedHashMap<Object, Object> {
        private static final long serialVersionUID = 1L;
        private final int limit;

        CountedMap(int limit) {
            this.limit = limit;
        }

        @Override
        public @Nullable Object put(Object key, @Nullable Object value) {
            check(size(), limit, "keys of a map");
            return super.put(key, value);
        }
    }
}
