package tern.rpc.registry;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads one JSON text from a registry. Objects become maps, arrays become lists, and numbers become {@link Long} or
 * {@link BigDecimal}. The text cannot name Java classes. Not thread-safe.
 */
public final class JsonReader {

    private static final int MAX_DEPTH = 16;
    private static final int MAX_NUMBER = 40;

    private final String text;
    private final int maxMembers;
    private int position;
    private int members;

    private JsonReader(String text, int maxMembers) {
        this.text = text;
        this.maxMembers = maxMembers;
    }

    /**
     * Reads a JSON text.
     *
     * @param maxMembers the maximum number of object members and array elements together
     * @throws IllegalArgumentException if the text is not JSON, is nested too deeply or has too many members. The
     *     message contains the position
     */
    public static @Nullable Object read(String text, int maxMembers) {
        JsonReader reader = new JsonReader(text, maxMembers);
        Object value = reader.value(0);
        reader.skipBlanks();
        if (reader.position != text.length()) {
            throw reader.invalid("more text follows the value");
        }
        return value;
    }

    /** Reads a JSON text whose value is an object. */
    public static Map<String, @Nullable Object> readObject(String text, int maxMembers) {
        JsonReader reader = new JsonReader(text, maxMembers);
        reader.skipBlanks();
        Map<String, @Nullable Object> object = reader.object(0);
        reader.skipBlanks();
        if (reader.position != text.length()) {
            throw reader.invalid("more text follows the object");
        }
        return object;
    }

    private @Nullable Object value(int depth) {
        skipBlanks();
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> literal("true", true);
            case 'f' -> literal("false", false);
            case 'n' -> literal("null", null);
            default -> number();
        };
    }

    private Map<String, @Nullable Object> object(int depth) {
        expect('{');
        checkDepth(depth);
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        skipBlanks();
        if (take('}')) {
            return object;
        }
        do {
            skipBlanks();
            String name = string();
            skipBlanks();
            expect(':');
            countMember();
            object.put(name, value(depth + 1));
            skipBlanks();
        } while (take(','));
        expect('}');
        return object;
    }

    private List<@Nullable Object> array(int depth) {
        expect('[');
        checkDepth(depth);
        List<@Nullable Object> array = new ArrayList<>();
        skipBlanks();
        if (take(']')) {
            return array;
        }
        do {
            countMember();
            array.add(value(depth + 1));
            skipBlanks();
        } while (take(','));
        expect(']');
        return array;
    }

    private void checkDepth(int depth) {
        if (depth >= MAX_DEPTH) {
            throw invalid("more than " + MAX_DEPTH + " levels");
        }
    }

    private void countMember() {
        if (++members > maxMembers) {
            throw invalid("more than " + maxMembers + " members");
        }
    }

    private String string() {
        expect('"');
        int start = position;
        while (position < text.length()) {
            char c = text.charAt(position);
            if (c == '"') {
                return text.substring(start, position++);
            }
            if (c == '\\') {
                return stringWithEscapes(start);
            }
            checkCharacter(c);
            position++;
        }
        throw invalid("a string without an end");
    }

    private String stringWithEscapes(int start) {
        StringBuilder decoded = new StringBuilder().append(text, start, position);
        while (position < text.length()) {
            char c = text.charAt(position++);
            if (c == '"') {
                return decoded.toString();
            }
            if (c == '\\') {
                decoded.append(escape());
            } else {
                checkCharacter(c);
                decoded.append(c);
            }
        }
        throw invalid("a string without an end");
    }

    private char escape() {
        char c = peek();
        position++;
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> throw invalid("an unknown escape");
        };
    }

    private char unicode() {
        if (position + 4 > text.length()) {
            throw invalid("an escape without an end");
        }
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(text.charAt(position++), 16);
            if (digit < 0) {
                throw invalid("an escape that is not hexadecimal");
            }
            value = value << 4 | digit;
        }
        return (char) value;
    }

    private void checkCharacter(char c) {
        if (c < ' ') {
            throw invalid("a control character in a string");
        }
    }

    private @Nullable Object literal(String word, @Nullable Object value) {
        if (!text.startsWith(word, position)) {
            throw invalid("no JSON value");
        }
        position += word.length();
        return value;
    }

    private Number number() {
        int start = position;
        while (position < text.length() && "+-.eE0123456789".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
        if (position - start > MAX_NUMBER) {
            throw invalid("a number of more than " + MAX_NUMBER + " characters");
        }
        String digits = text.substring(start, position);
        try {
            return digits.length() < 19 && digits.matches("-?\\d+") ? Long.valueOf(digits) : new BigDecimal(digits);
        } catch (NumberFormatException e) {
            throw invalid("no JSON value");
        }
    }

    private void skipBlanks() {
        while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
    }

    private char peek() {
        if (position >= text.length()) {
            throw invalid("the end of the text");
        }
        return text.charAt(position);
    }

    private boolean take(char expected) {
        if (position < text.length() && text.charAt(position) == expected) {
            position++;
            return true;
        }
        return false;
    }

    private void expect(char expected) {
        if (!take(expected)) {
            throw invalid("no '" + expected + "'");
        }
    }

    /** Creates an exception. Its message contains no part of the text, which may be malicious. */
    private IllegalArgumentException invalid(String what) {
        return new IllegalArgumentException("not valid JSON at character " + position + ": " + what);
    }
}
