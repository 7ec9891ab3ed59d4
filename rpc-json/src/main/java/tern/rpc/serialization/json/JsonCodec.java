package tern.rpc.serialization.json;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.serialization.JsonError;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.protobuf.ProtobufCodec;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Encodes and decodes method arguments and results as JSON. Thread-safe. Uses a copy of the application's mapper with
 * its modules, mix-ins, naming strategy and visibility settings. The application cannot change rules that client and
 * server must share. Dates are RFC 3339 strings, enums are names, null properties are omitted, {@code byte[]} is
 * base64, {@code BigDecimal} is a plain number, and protobuf messages have their canonical form. An object with a
 * repeated name is rejected. JSON cannot name Java classes.
 */
public final class JsonCodec implements JsonFormat {

    /** True if the optional module for protobuf messages is on the class path. */
    private static final boolean MESSAGES = isPresent("tern.rpc.serialization.protobuf.ProtobufCodec");

    private final JsonMapper mapper;
    private final JsonMapper textMapper;
    private final Map<MethodDescriptor, JsonMethod> methods = new ConcurrentHashMap<>();

    /** Creates a codec with {@link JsonLimits#defaults()}. */
    public JsonCodec(JsonMapper mapper) {
        this(mapper, JsonLimits.defaults());
    }

    /**
     * Creates a codec with a copy of the mapper.
     *
     * @throws IllegalArgumentException if default typing is enabled in the mapper
     */
    public JsonCodec(JsonMapper mapper, JsonLimits limits) {
        this.mapper = WireMapper.of(mapper, limits, MESSAGES ? new ProtobufCodec() : null);
        this.textMapper = this.mapper.isEnabled(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                ? this.mapper
                : this.mapper
                        .rebuild()
                        .enable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                        .build();
    }

    @Override
    public @Nullable JsonError error(byte[] json, int offset, int length) {
        return ErrorBody.read(mapper, json, offset, length);
    }

    @Override
    public JsonMethod method(MethodDescriptor method) {
        JsonMethod known = methods.get(method);
        return known != null
                ? known
                : methods.computeIfAbsent(method, added -> new JacksonMethod(added, mapper, textMapper));
    }

    private static boolean isPresent(String className) {
        try {
            Class.forName(className, false, JsonCodec.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
