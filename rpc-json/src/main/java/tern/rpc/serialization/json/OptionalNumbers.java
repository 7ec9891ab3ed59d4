package tern.rpc.serialization.json;

import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.Deserializers;
import tools.jackson.databind.ext.jdk8.OptionalDoubleDeserializer;
import tools.jackson.databind.ext.jdk8.OptionalIntDeserializer;
import tools.jackson.databind.ext.jdk8.OptionalLongDeserializer;
import tools.jackson.databind.jsontype.TypeDeserializer;
import tools.jackson.databind.type.ReferenceType;

/**
 * Returns Jackson's own deserializers of the optional numbers, so that {@link CostlyScalars} can check the numbers. For
 * these types, Jackson calls {@code CostlyScalars} only if a module returns the deserializer.
 */
final class OptionalNumbers extends Deserializers.Base {

    @Override
    public boolean hasDeserializerFor(DeserializationConfig config, Class<?> type) {
        return of(type) != null;
    }

    @Override
    public @Nullable ValueDeserializer<?> findReferenceDeserializer(
            ReferenceType type,
            DeserializationConfig config,
            BeanDescription.Supplier description,
            TypeDeserializer contentTypes,
            ValueDeserializer<?> content) {
        return of(type.getRawClass());
    }

    private static @Nullable ValueDeserializer<?> of(Class<?> type) {
        if (type == OptionalInt.class) {
            return new OptionalIntDeserializer();
        }
        if (type == OptionalLong.class) {
            return new OptionalLongDeserializer();
        }
        return type == OptionalDouble.class ? new OptionalDoubleDeserializer() : null;
    }
}
