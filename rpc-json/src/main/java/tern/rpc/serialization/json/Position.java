package tern.rpc.serialization.json;

import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;
import tern.rpc.ValueType;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.SerializationException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.AbstractDeserializer;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/**
 * A method's parameter or result, with Jackson's information about its type. The information is computed once.
 * Immutable.
 */
final class Position {

    /** The kind of a type: whether its JSON form is a string, another scalar, an array or an object. */
    enum Kind {
        /** A {@code String} or {@code CharSequence}: only JSON strings are accepted. */
        TEXT,
        /** A type whose JSON form is one string, number or boolean. */
        SCALAR,
        /** A scalar type whose JSON form can also be an array of numbers, such as {@code byte[]} or a date. */
        SCALAR_OR_NUMBERS,
        /** A type whose JSON form is an array. */
        ARRAY,
        /** A bean, a map, a protobuf message, or a type with a deserializer of the application. */
        OTHER
    }

    private final JsonMapper mapper;
    private final JavaType type;
    private final String where;
    private final String typeName;
    private final Kind kind;
    private final boolean primitive;
    private final boolean list;
    private final ObjectReader reader;
    private final ObjectWriter writer;
    private final ObjectWriter anyWriter;

    /** The class that {@link #writer} accepts; null if it accepts all classes. */
    private final @Nullable Class<?> written;

    private final boolean holdsText;
    private final @Nullable BeanDeserializerBase bean;
    private final @Nullable String problem;
    private final @Nullable String missingConstructor;

    /**
     * @param where the position's description in error messages, for example
     *     {@code UserService/getUser, parameter 1 (id)}
     */
    Position(JsonMapper mapper, ValueType value, String where) {
        this.mapper = mapper;
        this.type = mapper.constructType(value.generic());
        this.where = where;
        this.typeName = value.generic().getTypeName();
        this.primitive = value.raw().isPrimitive();
        this.reader = mapper.readerFor(type);
        this.writer = mapper.writerFor(type);
        this.anyWriter = mapper.writer();
        this.written = type.isContainerType()
                ? null
                : MethodType.methodType(value.raw()).wrap().returnType();
        this.holdsText = type.isContainerType() && isText(type.getContentType().getRawClass());
        Kind found = Kind.OTHER;
        BeanDeserializerBase plain = null;
        String trouble = null;
        String unmade = null;
        try (JsonParser parser = mapper.createParser("null")) {
            DeserializationContext context = (DeserializationContext) parser.objectReadContext();
            ValueDeserializer<?> deserializer = context.findRootValueDeserializer(type);
            found = kind(value.raw(), deserializer.logicalType());
            if (deserializer instanceof BeanDeserializerBase properties
                    && context.introspectBeanDescription(type).findAnySetterAccessor() == null) {
                plain = properties;
            }
            if (deserializer instanceof BeanDeserializerBase made
                    && !made.getValueInstantiator().canInstantiate()) {
                unmade = where + ": " + JsonErrors.hasNoConstructor(typeName);
            }
            if (deserializer instanceof AbstractDeserializer) {
                trouble = where + ": "
                        + JsonErrors.isAbstract(typeName, value.raw().isSealed());
            }
        } catch (RuntimeException e) {
            trouble = JsonErrors.reading(where, typeName, e).getMessage();
        }
        this.kind = found;
        this.list = found == Kind.ARRAY && (type.isArrayType() || type.isCollectionLikeType());
        this.bean = plain;
        this.problem = trouble;
        this.missingConstructor = unmade;
    }

    private Position(Position other, ObjectReader reader) {
        this.mapper = other.mapper;
        this.type = other.type;
        this.where = other.where;
        this.typeName = other.typeName;
        this.kind = other.kind;
        this.primitive = other.primitive;
        this.list = other.list;
        this.reader = reader;
        this.writer = other.writer;
        this.anyWriter = other.anyWriter;
        this.written = other.written;
        this.holdsText = other.holdsText;
        this.bean = other.bean;
        this.problem = other.problem;
        this.missingConstructor = other.missingConstructor;
    }

    /**
     * Returns a copy of this parameter whose reader accepts strings as numbers and a single value as an array. Such a
     * copy is needed because query parameters and forms contain only strings.
     *
     * @param textMapper a mapper that accepts strings as numbers
     */
    Position forText(JsonMapper textMapper) {
        return new Position(
                this,
                textMapper.readerFor(reader.getValueType()).with(DeserializationFeature.ACCEPT_SINGLE_VALUE_AS_ARRAY));
    }

    private static Kind kind(Class<?> raw, @Nullable LogicalType type) {
        if (type == null) {
            return Kind.OTHER;
        }
        return switch (type) {
            case Textual -> isText(raw) ? Kind.TEXT : Kind.SCALAR;
            case Boolean, Enum, Float, Integer, OtherScalar -> Kind.SCALAR;
            case Binary, DateTime -> Kind.SCALAR_OR_NUMBERS;
            case Array, Collection, Untyped -> Kind.ARRAY;
            case Map, POJO -> Kind.OTHER;
        };
    }

    private static boolean isText(Class<?> raw) {
        return raw == String.class || raw == CharSequence.class;
    }

    Kind kind() {
        return kind;
    }

    boolean isScalar() {
        return kind == Kind.TEXT || kind == Kind.SCALAR || kind == Kind.SCALAR_OR_NUMBERS;
    }

    /** Returns whether the type is an array or collection, whose JSON form is never an object. */
    boolean isList() {
        return list;
    }

    boolean isMap() {
        return type.isMapLikeType();
    }

    /** Returns whether the type is a bean that has properties, but no property with this name. */
    boolean lacks(String property) {
        return bean != null && bean.getPropertyCount() > 0 && !bean.hasProperty(property);
    }

    /** Returns whether the type is a collection, array or map whose elements are strings. */
    boolean holdsText() {
        return holdsText;
    }

    /** Returns the reason why values of this type cannot be decoded; null if they can be decoded. */
    @Nullable
    String problem() {
        return problem;
    }

    /**
     * The reason why objects of this class cannot be created from JSON; null if objects of this class can be created.
     * Only clients that use JSON log this reason, because the other formats need no constructor.
     */
    @Nullable
    String missingConstructor() {
        return missingConstructor;
    }

    /** Decodes the value at the parser's current token. */
    @Nullable
    Object read(JsonParser parser) {
        try {
            JsonToken token = parser.currentToken();
            if (token == JsonToken.VALUE_NULL && primitive) {
                throw absent();
            }
            if (kind == Kind.TEXT && token != JsonToken.VALUE_STRING && token != JsonToken.VALUE_NULL) {
                throw MismatchedInputException.from(parser, String.class, "not text");
            }
            return reader.readValue(parser);
        } catch (RuntimeException e) {
            throw failed(e);
        }
    }

    /**
     * Returns the value to use if the argument is missing.
     *
     * @throws SerializationException if the type is primitive
     */
    @Nullable
    Object missing() {
        if (primitive) {
            throw absent();
        }
        return null;
    }

    private SerializationException absent() {
        return new SerializationException(where + " is missing: expected " + typeName);
    }

    void write(JsonGenerator generator, @Nullable Object value) {
        try {
            if (value == null) {
                generator.writeNull();
            } else if (written == null || written == value.getClass()) {
                writer.writeValue(generator, value);
            } else {
                anyWriter.writeValue(generator, value);
            }
        } catch (MessageTooLargeException e) {
            throw e;
        } catch (SerializationException e) {
            throw failed(e.getMessage());
        } catch (RuntimeException e) {
            throw JsonErrors.writing(where, e);
        }
    }

    SerializationException failed(RuntimeException failure) {
        return JsonErrors.reading(where, typeName, failure);
    }

    SerializationException failed(@Nullable String what) {
        return new SerializationException(where + ": " + what);
    }

    String typeName() {
        return typeName;
    }

    /** Returns an example of a value in JSON; null if values of this type cannot be decoded. */
    @Nullable
    String example() {
        return ExampleJson.of(mapper, type);
    }
}
