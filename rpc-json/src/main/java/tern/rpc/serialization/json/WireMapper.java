package tern.rpc.serialization.json;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.protobuf.ProtobufCodec;
import tools.jackson.core.Base64Variant;
import tools.jackson.core.Base64Variants;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DatabindContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.PolymorphicTypeValidator;
import tools.jackson.databind.util.StdDateFormat;

/**
 * Creates a copy of the application's mapper with the rules of the wire protocol. Modules, mix-ins, naming strategy and
 * visibility settings are copied unchanged. The protocol determines the formats of dates, enums, numbers and bytes, and
 * requires compact output, because the peer relies on these formats.
 */
final class WireMapper extends JsonMapper.Builder {

    private static final Base64Variant BASE64 =
            Base64Variants.MIME_NO_LINEFEEDS.withReadPadding(Base64Variant.PaddingReadBehaviour.PADDING_ALLOWED);

    private static final List<Class<?>> PRIMITIVES = List.of(
            boolean.class, byte.class, char.class, short.class, int.class, long.class, float.class, double.class);

    /** Copies a mapper with a different factory. Jackson has no method for this. */
    private WireMapper(JsonMapper user, JsonFactory factory) {
        super((StateImpl) user.rebuild().saveStateApplyModules());
        _streamFactory = factory;
    }

    /**
     * Creates the mapper.
     *
     * @param messages the codec for protobuf messages; null if protobuf is not supported
     * @throws IllegalArgumentException if the mapper allows JSON to name classes
     */
    static JsonMapper of(JsonMapper user, JsonLimits limits, @Nullable ProtobufCodec messages) {
        JavaType any = user.constructType(Object.class);
        if (user.deserializationConfig().getDefaultTyper(any) != null
                || user.serializationConfig().getDefaultTyper(any) != null) {
            throw new IllegalArgumentException(
                    "the JsonMapper has default typing active, with which JSON names classes;"
                            + " give RPC a mapper without it (leave out activateDefaultTyping and setDefaultTyping)");
        }
        JsonFactory factory = user.tokenStreamFactory()
                .rebuild()
                .recyclerPool(new RecycledBuffers())
                .streamReadConstraints(StreamLimits.reading(limits))
                .streamWriteConstraints(StreamLimits.writing(limits))
                .disable(TokenStreamFactory.Feature.CHARSET_DETECTION)
                .build();
        WireMapper mapper = new WireMapper(user, factory);
        List<JacksonModule> ofUser = new ArrayList<>();
        mapper.withModules(ofUser::add);
        // Without this setting, an empty string would silently become 0 or false.
        PRIMITIVES.forEach(type -> mapper.withCoercionConfig(
                type, coercions -> coercions.setCoercion(CoercionInputShape.EmptyString, CoercionAction.Fail)));
        return mapper.removeAllModules()
                .addModule(new WireInstantiators())
                .addModules(ofUser)
                .addModule(new WireTypes(limits, messages))
                .polymorphicTypeValidator(new NoClassNames())
                .changeDefaultPropertyInclusion(WireMapper::withoutNulls)
                .defaultBase64Variant(BASE64)
                .defaultDateFormat(new StdDateFormat())
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
                .disable(
                        EnumFeature.READ_ENUMS_USING_TO_STRING,
                        EnumFeature.WRITE_ENUMS_USING_TO_STRING,
                        EnumFeature.WRITE_ENUMS_TO_LOWERCASE,
                        EnumFeature.WRITE_ENUMS_USING_INDEX)
                // The date and time features need a separate call of disable(), because all features in one call must
                // be of the same kind.
                .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS, DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
                .enable(DateTimeFeature.ONE_BASED_MONTHS)
                .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
                // Decoding must not fail if an older caller omits a field or sends null for it. Null arguments are
                // rejected elsewhere.
                .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                // JsonMethod decodes several values from one text, and checks for the end of the text itself.
                .disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS, DeserializationFeature.UNWRAP_ROOT_VALUE)
                .disable(
                        SerializationFeature.WRAP_ROOT_VALUE,
                        SerializationFeature.INDENT_OUTPUT,
                        SerializationFeature.FLUSH_AFTER_WRITE_VALUE)
                .build();
    }

    /** Omits null properties, unless the application has configured a different rule for them. */
    private static JsonInclude.Value withoutNulls(JsonInclude.Value user) {
        return user.getValueInclusion() == JsonInclude.Include.USE_DEFAULTS
                ? user.withValueInclusion(JsonInclude.Include.NON_NULL)
                : user;
    }

    /**
     * Rejects class names in JSON. Jackson calls this validator for class names of types with {@code @JsonTypeInfo},
     * but not for names from a fixed list of subtypes.
     */
    private static final class NoClassNames extends PolymorphicTypeValidator {
        private static final long serialVersionUID = 1L;

        @Override
        public Validity validateBaseType(DatabindContext context, JavaType baseType) {
            return Validity.DENIED;
        }

        @Override
        public Validity validateSubClassName(DatabindContext context, JavaType baseType, String subClassName) {
            return Validity.DENIED;
        }

        @Override
        public Validity validateSubType(DatabindContext context, JavaType baseType, JavaType subType) {
            return Validity.DENIED;
        }
    }
}
