package tern.rpc.serialization.json;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.SettableBeanProperty;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/**
 * Writes example values of types, for error messages. The values are derived only from the types, never from requests.
 * An example has a limited depth and a limited number of properties.
 */
final class ExampleJson {

    private static final int MAX_DEPTH = 2;
    private static final int MAX_PROPERTIES = 8;

    private static final Set<Class<?>> WHOLE_NUMBERS = Set.of(
            byte.class,
            short.class,
            int.class,
            long.class,
            Byte.class,
            Short.class,
            Integer.class,
            Long.class,
            BigInteger.class);

    private static final Set<Class<?>> FRACTIONS =
            Set.of(float.class, double.class, Float.class, Double.class, BigDecimal.class, Number.class);

    private final DeserializationContext context;
    private final JsonGenerator generator;

    private ExampleJson(DeserializationContext context, JsonGenerator generator) {
        this.context = context;
        this.generator = generator;
    }

    /** Returns an example of the type; null if Jackson cannot read the type. */
    static @Nullable String of(JsonMapper mapper, JavaType type) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonParser parser = mapper.createParser("null");
                JsonGenerator generator = mapper.createGenerator(bytes)) {
            new ExampleJson((DeserializationContext) parser.objectReadContext(), generator).write(type, 0);
        } catch (RuntimeException e) {
            return null; // Jackson cannot read the type. A warning at startup names it.
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private void write(JavaType type, int depth) {
        Class<?> raw = type.getRawClass();
        String text = JsonErrors.exampleOf(raw);
        if (text != null) {
            generator.writeString(text);
        } else if (raw == String.class || raw == CharSequence.class || raw == Object.class) {
            generator.writeString("text");
        } else if (raw == boolean.class || raw == Boolean.class) {
            generator.writeBoolean(true);
        } else if (WHOLE_NUMBERS.contains(raw)) {
            generator.writeNumber(1);
        } else if (FRACTIONS.contains(raw)) {
            generator.writeNumber(1.5);
        } else if (raw == char.class || raw == Character.class) {
            generator.writeString("a");
        } else if (raw.isEnum() && raw.getEnumConstants().length > 0) {
            generator.writeString(((Enum<?>) raw.getEnumConstants()[0]).name());
        } else if (type.isArrayType() || type.isCollectionLikeType()) {
            generator.writeStartArray();
            if (depth < MAX_DEPTH) {
                write(type.getContentType(), depth + 1);
            }
            generator.writeEndArray();
        } else {
            writeOther(type, depth);
        }
    }

    private void writeOther(JavaType type, int depth) {
        ValueDeserializer<?> deserializer = context.findRootValueDeserializer(type);
        LogicalType kind = deserializer.logicalType();
        if (kind != null && kind != LogicalType.POJO && kind != LogicalType.Map) {
            generator.writeString("text");
            return;
        }
        generator.writeStartObject();
        if (depth < MAX_DEPTH && deserializer instanceof BeanDeserializerBase bean) {
            Iterator<SettableBeanProperty> properties = bean.properties();
            for (int i = 0; i < MAX_PROPERTIES && properties.hasNext(); i++) {
                SettableBeanProperty property = properties.next();
                generator.writeName(property.getName());
                write(property.getType(), depth + 1);
            }
        }
        generator.writeEndObject();
    }
}
