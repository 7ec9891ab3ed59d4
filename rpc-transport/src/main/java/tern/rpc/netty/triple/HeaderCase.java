package tern.rpc.netty.triple;

import io.netty.util.AsciiString;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The {@code tri-header-convert} header, which contains the original spelling of header names: a URL-encoded JSON
 * object that maps lower-case names to original names (docs/wire-protocol.md 3.3).
 */
final class HeaderCase {

    static final String NAME = "tri-header-convert";

    private HeaderCase() {}

    /** @param names the original names by lower-case name; the names must not need an escape in JSON */
    static String encode(Map<String, String> names) {
        StringBuilder json = new StringBuilder("{");
        names.forEach((lower, original) -> json.append(json.length() == 1 ? "\"" : ",\"")
                .append(lower)
                .append("\":\"")
                .append(original)
                .append('"'));
        return URLEncoder.encode(json.append('}').toString(), StandardCharsets.UTF_8);
    }

    /**
     * Decodes the names. Invalid input gives an empty or incomplete map, never an exception. Skips a header if its
     * lower-case name and its original name differ in anything but the case of ASCII letters.
     */
    static Map<String, String> decode(CharSequence value) {
        Map<String, String> names = new HashMap<>();
        String json;
        try {
            json = URLDecoder.decode(value.toString(), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return names;
        }
        Texts texts = new Texts(json);
        while (true) {
            String lower = texts.next();
            String original = texts.next();
            if (lower == null || original == null) {
                return names;
            }
            if (AsciiString.contentEqualsIgnoreCase(lower, original)) {
                names.put(lower, original);
            }
        }
    }

    /**
     * Reads a JSON object whose values are strings. {@link #next} returns the first key, then its value, then the next
     * key, and so on.
     */
    private static final class Texts {

        private final String json;
        private int position;

        Texts(String json) {
            this.json = json;
        }

        /** Returns the next string; null at the end. */
        @Nullable
        String next() {
            int start = json.indexOf('"', position) + 1;
            int end = json.indexOf('"', start);
            if (start == 0 || end < 0) {
                return null;
            }
            position = end + 1;
            // header names contain no JSON escapes, so a string with escapes matches no header
            return json.substring(start, end);
        }
    }
}
