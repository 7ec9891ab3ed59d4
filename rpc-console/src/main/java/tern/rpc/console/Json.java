package tern.rpc.console;

import java.util.Map;
import tools.jackson.core.JsonParser;
import tools.jackson.core.SerializableString;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.io.CharacterEscapes;
import tools.jackson.core.io.SerializedString;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The JSON of the endpoint itself. It does not depend on the application's mapper, because the JSON has a version. The
 * characters that begin markup are always escaped. Thread-safe.
 */
final class Json {

    /** Increases when a member changes its meaning or is removed. */
    static final int VERSION = 1;

    private static final int MAX_DEPTH = 100;

    private final JsonMapper mapper = JsonMapper.builder(JsonFactory.builder()
                    .characterEscapes(new NoMarkup())
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxStringLength(CallRequest.MAX_BYTES)
                            .build())
                    .disable(TokenStreamFactory.Feature.CHARSET_DETECTION)
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .build();

    /** Escapes the characters of markup, so that even an answer with a wrong content type shows no foreign element. */
    private static final class NoMarkup extends CharacterEscapes {
        private static final long serialVersionUID = 1L;

        private static final String MARKUP = "<>&'";

        @Override
        public int[] getEscapeCodesForAscii() {
            int[] codes = standardAsciiEscapesForJSON();
            for (int i = 0; i < MARKUP.length(); i++) {
                codes[MARKUP.charAt(i)] = CharacterEscapes.ESCAPE_CUSTOM;
            }
            return codes;
        }

        @Override
        public SerializableString getEscapeSequence(int character) {
            return new SerializedString(String.format("\\u%04X", character));
        }
    }

    /** @throws tools.jackson.core.JacksonException if the value cannot be written */
    byte[] bytes(Map<String, ?> value) {
        return mapper.writeValueAsBytes(value);
    }

    /** Converts an object of another module to JSON. */
    JsonNode tree(Object value) {
        return mapper.valueToTree(value);
    }

    /** @throws tools.jackson.core.JacksonException if it is not JSON */
    JsonNode read(byte[] text) {
        return mapper.readTree(text);
    }

    JsonParser parser(String text) {
        return mapper.createParser(text);
    }
}
