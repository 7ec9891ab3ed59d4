package tern.rpc.serialization.json;

import java.io.ByteArrayOutputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.json.JsonMapper;

/**
 * Decodes a method's arguments from query parameters or a form. Converts the parameters to JSON text first, and then
 * decodes that text with the usual limits for JSON. Thread-safe.
 */
final class QueryArguments {

    /** The query parameter that selects the format of the answer. This parameter is not an argument. */
    private static final String FORMAT = "format";

    /** Matches the end of a time in which a space has replaced the plus sign of the offset. */
    private static final Pattern LOST_PLUS = Pattern.compile("T[^ ]+ \\d\\d:?\\d\\d(\\[.+\\])?$");

    /**
     * The maximum length of a time. Longer values are not matched against the pattern, because the matching takes
     * quadratic time.
     */
    private static final int MAX_TIME_LENGTH = 80;

    private static final String PLUS = "; in a query and a form, + is a space, so write it as %2B";

    private final JsonMapper mapper;
    private final ArgumentNames names;
    private final Position[] parameters;

    /**
     * @param parameters the method's parameters, created by {@link Position#forText}. The readers of these parameters
     *     accept strings as numbers and a single value as a list
     */
    QueryArguments(JsonMapper mapper, ArgumentNames names, Position[] parameters) {
        this.mapper = mapper;
        this.names = names;
        this.parameters = parameters;
    }

    @Nullable
    Object[] read(Map<String, List<String>> query) {
        @Nullable Object[] arguments = new @Nullable Object[parameters.length];
        checkNames(query);
        for (int i = 0; i < arguments.length; i++) {
            Position parameter = parameters[i];
            List<String> values = query.getOrDefault(names.get(i), List.of());
            if (!values.isEmpty()) {
                checkBase64(parameter, values);
                String name = names.get(i);
                arguments[i] = withAdvice(
                        values, commas(parameter, name, values), () -> parse(parameter, named(parameter, values)));
            } else if (parameter.kind() == Position.Kind.OTHER) {
                arguments[i] = ofProperties(parameter, names.get(i), query);
            } else {
                arguments[i] = parameter.missing();
            }
        }
        return arguments;
    }

    /**
     * Rejects an unknown name if an argument is missing. If a missing argument is a bean or a map, all names are
     * allowed, because the bean or map is decoded from all remaining parameters.
     */
    private void checkNames(Map<String, List<String>> query) {
        boolean absent = false;
        for (int i = 0; i < parameters.length; i++) {
            if (query.getOrDefault(names.get(i), List.of()).isEmpty()) {
                if (parameters[i].kind() == Position.Kind.OTHER) {
                    return;
                }
                absent = true;
            }
        }
        if (!absent) {
            return;
        }
        for (String name : query.keySet()) {
            if (names.indexOf(name) == null && !name.equals(FORMAT)) {
                throw names.unknown(name);
            }
        }
    }

    /** Decodes a bean or map from the query parameters that are not arguments of the method. */
    private @Nullable Object ofProperties(Position parameter, String name, Map<String, List<String>> query) {
        Map<String, List<String>> properties = new HashMap<>(query);
        properties.keySet().removeAll(names.all());
        if (properties.isEmpty()) {
            return parameter.missing();
        }
        String prefix = name + ".";
        properties.keySet().stream()
                .filter(each -> each.startsWith(prefix))
                .findFirst()
                .ifPresent(each -> {
                    throw parameter.failed("expected its properties without the name of the parameter, such as "
                            + each.substring(prefix.length()) + "=…, found " + each + "=…");
                });
        List<String> values = properties.values().stream().flatMap(List::stream).toList();
        return withAdvice(values, "", () -> parse(parameter, object(properties)));
    }

    /**
     * Rejects base64 with a space, which was a plus sign in the URL. Otherwise, the decoder would skip the space and
     * return wrong bytes.
     */
    private static void checkBase64(Position parameter, List<String> values) {
        if (parameter.typeName().equals("byte[]") && values.stream().anyMatch(value -> value.indexOf(' ') >= 0)) {
            throw parameter.failed("expected base64, found a space" + PLUS);
        }
    }

    private interface Decoding {
        @Nullable
        Object value();
    }

    /** Returns the advice for a list whose elements are probably separated by commas; an empty string otherwise. */
    private static String commas(Position parameter, String name, List<String> values) {
        return parameter.kind() == Position.Kind.ARRAY
                        && values.stream().anyMatch(value -> value.indexOf(',') >= 0 && !looksLikeJson(value))
                ? "; a comma does not separate elements, so repeat the parameter: " + name + "=…&" + name + "=…"
                : "";
    }

    /**
     * Decodes values. If a time has a space instead of the plus sign of its offset, the error message explains the
     * mistake.
     *
     * @param advice additional text for an error message
     */
    private static @Nullable Object withAdvice(List<String> values, String advice, Decoding decoding) {
        try {
            return decoding.value();
        } catch (SerializationException e) {
            String plus = values.stream().anyMatch(QueryArguments::lostPlus) ? PLUS : "";
            throw plus.isEmpty() && advice.isEmpty() ? e : new SerializationException(e.getMessage() + advice + plus);
        }
    }

    private static boolean lostPlus(String value) {
        return value.length() <= MAX_TIME_LENGTH && LOST_PLUS.matcher(value).find();
    }

    private byte[] named(Position parameter, List<String> values) {
        if (values.size() > 1 && parameter.kind() != Position.Kind.ARRAY) {
            throw parameter.failed("expected one value, found " + values.size());
        }
        return text(generator -> {
            if (values.size() == 1) {
                write(generator, values.get(0), isJson(parameter, values.get(0), false));
            } else {
                generator.writeStartArray();
                values.forEach(value -> write(generator, value, isJson(parameter, value, true)));
                generator.writeEndArray();
            }
        });
    }

    private byte[] object(Map<String, List<String>> properties) {
        return text(generator -> {
            generator.writeStartObject();
            properties.forEach((name, values) -> {
                generator.writeName(name);
                if (values.size() == 1) {
                    generator.writeString(values.get(0));
                } else {
                    generator.writeStartArray();
                    values.forEach(generator::writeString);
                    generator.writeEndArray();
                }
            });
            generator.writeEndObject();
        });
    }

    /**
     * Returns whether the parameter's text looks like JSON. Always returns false for types whose ordinary values can
     * look like JSON.
     */
    private static boolean isJson(Position parameter, String value, boolean element) {
        return switch (parameter.kind()) {
            case TEXT, SCALAR, SCALAR_OR_NUMBERS -> false;
            case ARRAY -> parameter.holdsText() ? !element && value.startsWith("[") : looksLikeJson(value);
            case OTHER -> looksLikeJson(value) || value.startsWith("\"");
        };
    }

    private static boolean looksLikeJson(String value) {
        return value.startsWith("{") || value.startsWith("[");
    }

    private static void write(JsonGenerator generator, String value, boolean json) {
        if (json) {
            generator.writeRawValue(value);
        } else {
            generator.writeString(value);
        }
    }

    private interface Content {
        void write(JsonGenerator generator);
    }

    private byte[] text(Content content) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator generator = mapper.createGenerator(bytes)) {
            content.write(generator);
        }
        return bytes.toByteArray();
    }

    private @Nullable Object parse(Position parameter, byte[] json) {
        try (JsonParser parser = mapper.createParser(json)) {
            parser.nextToken();
            Object value = parameter.read(parser);
            if (parser.nextToken() != null) {
                throw parameter.failed("further data after the end of the JSON");
            }
            return value;
        } catch (RuntimeException e) {
            throw parameter.failed(e);
        }
    }
}
