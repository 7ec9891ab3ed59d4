package tern.rpc.load.gate;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads what users and applications wrote. */
final class Json {

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            // An application may be newer than this.
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private Json() {}

    /** @throws JacksonException if it is none */
    static JsonNode tree(String text) {
        return MAPPER.readTree(text);
    }

    /** @throws JacksonException if it is something else */
    static <T> T value(String text, Class<T> type) {
        return MAPPER.readValue(text, type);
    }
}
