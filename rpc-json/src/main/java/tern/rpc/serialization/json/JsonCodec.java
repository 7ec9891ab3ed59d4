package tern.rpc.serialization.json;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.serialization.protobuf.ProtobufCodec;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Encodes and decodes arguments and results of methods as JSON. Thread-safe. It uses a copy of the user's mapper with
 * its modules, mix-ins, naming and visibility. Rules that both sides must share are set here: dates as RFC 3339 text,
 * enums by name, null properties omitted, {@code byte[]} in base64, {@code BigDecimal} as a plain number, protobuf
 * messages in their canonical form. A repeated name in one object is rejected, and JSON never names classes.
 */
public final class JsonCodec {

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
     * @throws IllegalArgumentException if the mapper has default typing
     */
    public JsonCodec(JsonMapper mapper, JsonLimits limits) {
        this.mapper = WireMapper.of(mapper, limits, new ProtobufCodec());
        this.textMapper = this.mapper.isEnabled(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                ? this.mapper
                : this.mapper
                        .rebuild()
                        .enable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                        .build();
    }

    /** The error in the body of an answer; null if the body does not have the form of Tern, Dubbo and Connect. */
    public @Nullable JsonError error(byte[] json, int offset, int length) {
        return JsonError.read(mapper, json, offset, length);
    }

    /**
     * The codec of a method. Its types are resolved at the first call, which is expensive, so it should happen at
     * start-up.
     */
    public JsonMethod method(MethodDescriptor method) {
        JsonMethod known = methods.get(method);
        return known != null
                ? known
                : methods.computeIfAbsent(method, added -> new JsonMethod(added, mapper, textMapper));
    }
}
