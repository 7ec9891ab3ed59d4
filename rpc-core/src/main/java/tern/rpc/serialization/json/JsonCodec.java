package tern.rpc.serialization.json;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.serialization.protobuf.ProtobufCodec;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Arguments and results of methods as JSON. Thread-safe. Works with a copy of the user's mapper: its modules, mix-ins,
 * naming and visibility stay, while what both sides must agree on is set here: dates as RFC 3339 text, enums by name,
 * null properties left out, {@code byte[]} in base64, {@code BigDecimal} as a plain number, protobuf messages in their
 * canonical form. A name twice in one object is refused, and JSON never names classes.
 */
public final class JsonCodec {

    private final JsonMapper mapper;
    private final JsonMapper textMapper;
    private final Map<MethodDescriptor, JsonMethod> methods = new ConcurrentHashMap<>();

    /** With {@link JsonLimits#defaults()}. */
    public JsonCodec(JsonMapper mapper) {
        this(mapper, JsonLimits.defaults());
    }

    /**
     * Copies the mapper, which is not changed.
     *
     * @throws IllegalArgumentException if the mapper has default typing active
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

    /** The body of an answer that is an error; null if it has not the form that Tern, Dubbo and Connect write. */
    public @Nullable JsonError error(byte[] json, int offset, int length) {
        return JsonError.read(mapper, json, offset, length);
    }

    /** The method's types, resolved at the first call for it: costly, so best asked for at start-up. */
    public JsonMethod method(MethodDescriptor method) {
        JsonMethod known = methods.get(method);
        return known != null
                ? known
                : methods.computeIfAbsent(method, added -> new JsonMethod(added, mapper, textMapper));
    }
}
