package tern.rpc;

import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Makes text from a peer safe for logs and exception messages. The result contains no line breaks and no characters
 * that reorder the surrounding text, such as right-to-left marks. The length of the result is limited.
 */
public final class PeerText {

    private static final int MAX_NAME = 200;
    private static final int MAX_TEXT = 8 << 10; // the maximum length, see docs/limits.md

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private PeerText() {}

    /** Makes the name of a service, method or header safe. Keeps at most 200 characters. */
    public static String name(@Nullable String name) {
        return name == null ? "null" : escaped(name, MAX_NAME);
    }

    /**
     * Escapes a text that can be long, such as an error message, for logs and exception messages. Keeps at most 8,192
     * characters.
     */
    public static String text(String text) {
        return escaped(text, MAX_TEXT);
    }

    private static String escaped(String text, int longest) {
        int end = Math.min(text.length(), longest);
        int plain = 0;
        while (plain < end && isPlain(text.charAt(plain))) {
            plain++;
        }
        if (plain == text.length()) {
            return text;
        }
        StringBuilder escaped = new StringBuilder(end + 16).append(text, 0, plain);
        for (int i = plain; i < end; i++) {
            char one = text.charAt(i);
            if (Character.isHighSurrogate(one) && i + 1 < end && Character.isLowSurrogate(text.charAt(i + 1))) {
                escaped.append(one).append(text.charAt(++i));
            } else {
                append(one, escaped);
            }
        }
        return text.length() > longest
                ? escaped.append("… (")
                        .append(text.length())
                        .append(" characters)")
                        .toString()
                : escaped.toString();
    }

    private static boolean isPlain(char one) {
        return one >= ' ' && one < 0x7F;
    }

    private static void append(char one, StringBuilder escaped) {
        switch (one) {
            case '\n' -> escaped.append("\\n");
            case '\r' -> escaped.append("\\r");
            case '\t' -> escaped.append("\\t");
            default -> {
                if (isHarmless(one)) {
                    escaped.append(one);
                } else {
                    escaped.append("\\u").append(HEX.toHexDigits(one));
                }
            }
        }
    }

    /**
     * Returns whether the character is harmless in a log. Format characters, such as right-to-left marks (Unicode, UAX
     * 9) and zero-width characters, count as harmful.
     */
    private static boolean isHarmless(char one) {
        return switch (Character.getType(one)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}
