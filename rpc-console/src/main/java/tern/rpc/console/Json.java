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
 * Reads and writes the JSON of the console's endpoint. Does not use the application's mapper, because the application's
 * settings would change the versioned JSON format. The characters {@code <}, {@code >}, {@code &} and {@code '} are
 * always escaped. Thread-safe.
 */
final class Json {

    /** The version of the JSON format. The version increases when a member changes its meaning or is removed. */
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

    /**
     * Escapes the characters of HTML markup. Injected elements are then harmless even if a browser treats a response as
     * HTML.
     */
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

    /** Converts an object of any class to a JSON tree. */
    JsonNode tree(Object value) {
        return mapper.valueToTree(value);
    }

    /** @throws tools.jackson.core.JacksonException if the text is not JSON */
    JsonNode read(byte[] text) {
        return mapper.readTree(text);
    }

    JsonParser parser(String text) {
        return mapper.createParser(text);
    }
}
