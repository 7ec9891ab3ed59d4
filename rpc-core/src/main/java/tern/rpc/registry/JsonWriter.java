package tern.rpc.registry;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes maps, lists, strings, numbers and booleans as JSON, without whitespace and in the iteration order of the
 * maps.
 */
public final class JsonWriter {

    private static final int FIRST_PRINTABLE = 0x20;

    private final StringBuilder json = new StringBuilder();

    private JsonWriter() {}

    /** @throws IllegalArgumentException if a value has a type that JSON does not support */
    public static String write(@Nullable Object value) {
        JsonWriter writer = new JsonWriter();
        writer.value(value);
        return writer.json.toString();
    }

    private void value(@Nullable Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            json.append(value);
        } else if (value instanceof String text) {
            string(text);
        } else if (value instanceof Map<?, ?> map) {
            object(map);
        } else if (value instanceof List<?> list) {
            array(list);
        } else {
            throw new IllegalArgumentException(value.getClass().getName() + " cannot be written as JSON");
        }
    }

    private void object(Map<?, ?> map) {
        json.append('{');
        String separator = "";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            json.append(separator);
            string(String.valueOf(entry.getKey()));
            json.append(':');
            value(entry.getValue());
            separator = ",";
        }
        json.append('}');
    }

    private void array(List<?> list) {
        json.append('[');
        String separator = "";
        for (Object element : list) {
            json.append(separator);
            value(element);
            separator = ",";
        }
        json.append(']');
    }

    private void string(String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> json.append("\\\"");
                case '\\' -> json.append("\\\\");
                case '\n' -> json.append("\\n");
                case '\r' -> json.append("\\r");
                case '\t' -> json.append("\\t");
                default -> {
                    if (c < FIRST_PRINTABLE) {
                        json.append(String.format("\\u%04x", (int) c));
                    } else {
                        json.append(c);
                    }
                }
            }
        }
        json.append('"');
    }
}
