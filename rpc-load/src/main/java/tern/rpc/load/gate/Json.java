package tern.rpc.load.gate;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Parses JSON from command-line arguments and from the application's answers. */
final class Json {

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            // Unknown fields are ignored, because a newer application may send them.
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private Json() {}

    /** @throws JacksonException if the text is not JSON */
    static JsonNode tree(String text) {
        return MAPPER.readTree(text);
    }
}
