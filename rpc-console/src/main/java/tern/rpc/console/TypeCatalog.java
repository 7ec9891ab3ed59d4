package tern.rpc.console;

import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;
import tern.rpc.console.TypeShape.Definition;
import tern.rpc.console.TypeShape.Field;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.BeanPropertyDefinition;
import tools.jackson.databind.introspect.ClassIntrospector;
import tools.jackson.databind.json.JsonMapper;

/**
 * Describes the parameter and result types of methods in their JSON form. The application's mapper determines the
 * names and fields. The catalog contains at most {@value #MAX_TYPES} types. All other types are shown without fields.
 * Not thread-safe.
 */
final class TypeCatalog {

    static final int MAX_TYPES = 500;

    private static final Logger LOG = LoggerFactory.getLogger(TypeCatalog.class);
    private static final int MAX_DEPTH = 16;
    private static final int MAX_FIELDS = 500;
    private static final boolean MESSAGES =
            ClassUtils.isPresent("com.google.protobuf.Message", TypeCatalog.class.getClassLoader());

    /** The JSON kinds of classes whose instances are encoded as a single JSON value. */
    private static final Map<Class<?>, String> SCALARS = scalars();

    private final JsonMapper mapper;
    private final Map<String, Definition> definitions = new LinkedHashMap<>();

    TypeCatalog(JsonMapper mapper) {
        this.mapper = mapper;
    }

    private static Map<Class<?>, String> scalars() {
        Map<Class<?>, String> kinds = new LinkedHashMap<>();
        add(kinds, "string", CharSequence.class, String.class, char.class, Character.class, char[].class);
        add(kinds, "boolean", boolean.class, Boolean.class);
        add(kinds, "integer", byte.class, Byte.class, short.class, Short.class, int.class, Integer.class, long.class);
        add(kinds, "integer", Long.class, BigInteger.class);
        add(kinds, "number", float.class, Float.class, double.class, Double.class, Number.class);
        add(kinds, "decimal", BigDecimal.class);
        add(kinds, "date", LocalDate.class);
        add(kinds, "time", LocalTime.class, OffsetTime.class);
        add(kinds, "datetime", LocalDateTime.class);
        add(kinds, "instant", Instant.class, OffsetDateTime.class, ZonedDateTime.class, Date.class, Calendar.class);
        add(kinds, "duration", Duration.class, Period.class);
        add(kinds, "bytes", byte[].class, Byte[].class);
        add(kinds, "uuid", UUID.class);
        add(kinds, "void", void.class, Void.class);
        add(kinds, "any", Object.class);
        return kinds;
    }

    private static void add(Map<Class<?>, String> kinds, String kind, Class<?>... types) {
        for (Class<?> type : types) {
            kinds.put(type, kind);
        }
    }

    /** Returns the definitions of all types described so far that have fields or enum values. */
    Map<String, Definition> definitions() {
        return definitions;
    }

    /**
     * Returns the description of a declared type. Never throws an exception. A type that cannot be described has the
     * kind {@code any}.
     */
    TypeShape shape(Type type) {
        try {
            return shape(mapper.constructType(type), 0);
        } catch (RuntimeException | LinkageError e) {
            LOG.debug("{} is shown without its fields", type, e);
            return TypeShape.any(type.getTypeName());
        }
    }

    private TypeShape shape(JavaType type, int depth) {
        Class<?> raw = type.getRawClass();
        String java = text(type);
        String scalar = SCALARS.get(raw);
        if (scalar != null) {
            return TypeShape.scalar(scalar, java);
        }
        if (depth >= MAX_DEPTH) {
            return TypeShape.any(java);
        }
        if (MESSAGES && MessageTypes.isMessage(raw)) {
            return new MessageTypes(definitions).shape(raw);
        }
        if (raw.isEnum()) {
            return enumShape(raw, java);
        }
        if (raw == Optional.class || type.isReferenceType()) {
            JavaType content = type.getContentType() == null ? type.containedTypeOrUnknown(0) : type.getContentType();
            return new TypeShape("optional", java, shape(content, depth + 1), null, null);
        }
        if (raw == OptionalInt.class || raw == OptionalLong.class) {
            return new TypeShape("optional", java, TypeShape.scalar("integer", "long"), null, null);
        }
        if (raw == OptionalDouble.class) {
            return new TypeShape("optional", java, TypeShape.scalar("number", "double"), null, null);
        }
        if (type.isMapLikeType()) {
            return TypeShape.map(java, shape(type.getKeyType(), depth + 1), shape(type.getContentType(), depth + 1));
        }
        if (type.isContainerType()) {
            return TypeShape.list(java, shape(type.getContentType(), depth + 1));
        }
        if (Date.class.isAssignableFrom(raw) || Calendar.class.isAssignableFrom(raw)) {
            return TypeShape.scalar("instant", java);
        }
        if (raw.getName().startsWith("tools.jackson.") || Map.Entry.class.isAssignableFrom(raw)) {
            return TypeShape.any(java);
        }
        if (raw.getName().startsWith("java.") || raw.getName().startsWith("javax.")) {
            return raw.isInterface() ? TypeShape.any(java) : TypeShape.scalar("string", java);
        }
        return objectShape(type, java, depth);
    }

    private TypeShape enumShape(Class<?> raw, String java) {
        if (!definitions.containsKey(raw.getName())) {
            if (definitions.size() >= MAX_TYPES) {
                return TypeShape.scalar("string", java);
            }
            List<String> values = Arrays.stream(raw.getEnumConstants())
                    .map(value -> ((Enum<?>) value).name())
                    .limit(MAX_FIELDS)
                    .toList();
            definitions.put(raw.getName(), new Definition("enum", raw.getSimpleName(), List.of(), values));
        }
        return TypeShape.reference("enum", java, raw.getName());
    }

    private TypeShape objectShape(JavaType type, String java, int depth) {
        Class<?> raw = type.getRawClass();
        if (raw.isInterface() || Modifier.isAbstract(raw.getModifiers())) {
            return TypeShape.any(java);
        }
        String name = type.hasGenericTypes() ? java : raw.getName();
        if (definitions.containsKey(name)) {
            return TypeShape.reference("object", java, name);
        }
        if (definitions.size() >= MAX_TYPES) {
            return TypeShape.any(java);
        }
        BeanDescription read = described(type, true);
        AnnotatedMember only = described(type, false).findJsonValueAccessor();
        if (only != null) {
            return shape(only.getType(), depth + 1);
        }
        String kind = raw.isRecord() ? "record" : "bean";
        // This entry ends the recursion for a type that contains itself.
        definitions.put(name, new Definition(kind, raw.getSimpleName(), List.of(), List.of()));
        Map<String, BeanPropertyDefinition> properties = new LinkedHashMap<>();
        described(type, false).findProperties().forEach(property -> properties.put(property.getName(), property));
        read.findProperties().stream()
                .filter(BeanPropertyDefinition::couldDeserialize)
                .forEach(property -> properties.putIfAbsent(property.getName(), property));
        List<Field> fields = new ArrayList<>();
        properties.values().stream()
                .limit(MAX_FIELDS)
                .forEach(property -> fields.add(new Field(
                        property.getName(),
                        shape(property.getPrimaryType(), depth + 1),
                        !property.getPrimaryType().isPrimitive())));
        definitions.put(name, new Definition(kind, raw.getSimpleName(), List.copyOf(fields), List.of()));
        return TypeShape.reference("object", java, name);
    }

    private BeanDescription described(JavaType type, boolean reading) {
        MapperConfig<?> config = reading ? mapper.deserializationConfig() : mapper.serializationConfig();
        ClassIntrospector introspector = config.classIntrospectorInstance().forOperation(config);
        return reading
                ? introspector.introspectForDeserialization(type, introspector.introspectClassAnnotations(type))
                : introspector.introspectForSerialization(type, introspector.introspectClassAnnotations(type));
    }

    private static String text(JavaType type) {
        return type.toCanonical();
    }

    /** Returns an example value of the type in its JSON form. If a type contains itself, the inner value is null. */
    @Nullable
    Object example(TypeShape type) {
        return example(type, new ArrayList<>());
    }

    private @Nullable Object example(TypeShape type, List<String> around) {
        return switch (type.kind()) {
            case "string" -> "text";
            case "boolean" -> true;
            case "integer" -> 1;
            case "number", "decimal" -> 1.5;
            case "date" -> "2026-01-31";
            case "time" -> "10:15:30";
            case "datetime" -> "2026-01-31T10:15:30";
            case "instant" -> "2026-01-31T10:15:30Z";
            case "duration" -> duration(type.java());
            case "bytes" -> "AAEC";
            case "uuid" -> "123e4567-e89b-12d3-a456-426614174000";
            case "list" -> type.of() == null ? List.of() : listOf(example(type.of(), around));
            case "optional" -> type.of() == null ? null : example(type.of(), around);
            case "map" -> mapOf(type, around);
            case "enum" -> firstValue(type.ref());
            case "object" -> object(type.ref(), around);
            default -> null;
        };
    }

    private static String duration(String java) {
        if (java.equals(Period.class.getName())) {
            return "P1D";
        }
        return java.startsWith("google.") ? "1.5s" : "PT1.5S";
    }

    private static List<Object> listOf(@Nullable Object element) {
        return element == null ? List.of() : List.of(element);
    }

    private Map<String, Object> mapOf(TypeShape type, List<String> around) {
        Map<String, Object> map = new LinkedHashMap<>();
        Object key = type.key() == null ? "key" : example(type.key(), around);
        map.put(
                "text".equals(key) || key == null ? "key" : key.toString(),
                type.of() == null ? null : example(type.of(), around));
        return map;
    }

    private @Nullable Object firstValue(@Nullable String ref) {
        Definition found = ref == null ? null : definitions.get(ref);
        return found == null || found.values().isEmpty() ? null : found.values().get(0);
    }

    private @Nullable Object object(@Nullable String ref, List<String> around) {
        Definition found = ref == null ? null : definitions.get(ref);
        if (ref == null || found == null || around.contains(ref) || around.size() >= 5) {
            return null;
        }
        around.add(ref);
        Map<String, Object> object = new LinkedHashMap<>();
        found.fields().stream().limit(50).forEach(field -> object.put(field.name(), example(field.type(), around)));
        around.remove(around.size() - 1);
        return object;
    }
}
