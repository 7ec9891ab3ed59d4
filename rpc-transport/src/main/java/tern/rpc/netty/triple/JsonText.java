package tern.rpc.netty.triple;

/** Encodes JSON strings for code that does not use a JSON library. */
final class JsonText {

    private static final String HEX = "0123456789abcdef";

    private JsonText() {}

    /** Appends the given string as a quoted JSON string with escapes. */
    static void append(String text, StringBuilder json) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            append(text.charAt(i), json);
        }
        json.append('"');
    }

    private static void append(char character, StringBuilder json) {
        switch (character) {
            case '"' -> json.append("\\\"");
            case '\\' -> json.append("\\\\");
            case '\n' -> json.append("\\n");
            case '\r' -> json.append("\\r");
            case '\t' -> json.append("\\t");
            default -> {
                if (character < ' ') {
                    json.append("\\u00").append(HEX.charAt(character >> 4)).append(HEX.charAt(character & 0xF));
                } else {
                    json.append(character);
                }
            }
        }
    }
}
