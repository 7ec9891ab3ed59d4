package tern.rpc.serialization.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;

/** Decodes a method's arguments from a request body. Thread-safe. */
final class BodyArguments {

    private static final Object[] NONE = {};

    private final JsonMapper mapper;
    private final String fullName;
    private final ArgumentNames names;
    private final Position[] parameters;

    /**
     * The quoted name of the only parameter, if the parameter's type is a bean without a property of the same name;
     * otherwise null.
     */
    private final byte @Nullable [] wrapping;

    BodyArguments(JsonMapper mapper, String fullName, ArgumentNames names, Position[] parameters) {
        this.mapper = mapper;
        this.fullName = fullName;
        this.names = names;
        this.parameters = parameters;
        this.wrapping = parameters.length == 1 && parameters[0].lacks(names.get(0))
                ? ('"' + names.get(0) + '"').getBytes(StandardCharsets.UTF_8)
                : null;
    }

    @Nullable
    Object[] read(byte[] json, int offset, int length, boolean oneMessage) {
        return switch (parameters.length) {
            case 0 -> {
                checkNone(json, offset, length, oneMessage);
                yield NONE;
            }
            case 1 ->
                new @Nullable Object[] {
                    oneMessage ? value(parameters[0], json, offset, length) : single(json, offset, length)
                };
            default -> {
                if (oneMessage) {
                    throw failed(
                            parameters.length + " parameters do not fit into the single message of a Connect request;"
                                    + " leave out connect-protocol-version");
                }
                yield several(json, offset, length);
            }
        };
    }

    /**
     * Rejects arguments for a method that has no parameters, because the sender probably meant another method.
     *
     * @param oneMessage whether the body is one message, which may have members from a newer version of its type
     */
    private void checkNone(byte[] json, int offset, int length, boolean oneMessage) {
        if (length == 0) {
            return;
        }
        try (JsonParser parser = mapper.createParser(json, offset, length)) {
            if (!isNone(parser, oneMessage)) {
                throw failed("expected no arguments, found some");
            }
            checkEnd(parser);
        } catch (RuntimeException e) {
            throw JsonErrors.reading(fullName, "", e);
        }
    }

    /** Moves the parser to the end of the next value. Returns whether this value contains no arguments. */
    private static boolean isNone(JsonParser parser, boolean oneMessage) {
        JsonToken first = parser.nextToken();
        if (first == JsonToken.START_OBJECT && oneMessage) {
            parser.skipChildren();
            return true;
        }
        return first == null
                || first == JsonToken.VALUE_NULL
                || (first == JsonToken.START_ARRAY && parser.nextToken() == JsonToken.END_ARRAY)
                || (first == JsonToken.START_OBJECT && parser.nextToken() == JsonToken.END_OBJECT);
    }

    /** Decodes JSON text that consists of exactly one value. */
    @Nullable
    Object value(Position position, byte[] json, int offset, int length) {
        try (JsonParser parser = mapper.createParser(json, offset, length)) {
            first(parser, position);
            return rest(parser, position);
        } catch (RuntimeException e) {
            throw position.failed(e);
        }
    }

    private @Nullable Object single(byte[] json, int offset, int length) {
        Position only = parameters[0];
        if (wrapping != null && beginsWith(wrapping, json, offset, length)) {
            return wrappedOrValue(only, json, offset, length);
        }
        try (JsonParser parser = mapper.createParser(json, offset, length)) {
            JsonToken first = first(parser, only);
            if (first == JsonToken.START_OBJECT && (only.isScalar() || only.isList())) {
                return member(parser, only);
            }
            if (first == JsonToken.START_ARRAY && only.isScalar()) {
                boolean numbers = parser.nextToken().isNumeric() && only.kind() == Position.Kind.SCALAR_OR_NUMBERS;
                return numbers ? value(only, json, offset, length) : element(parser, only);
            }
            if (first == JsonToken.START_ARRAY && only.kind() == Position.Kind.OTHER) {
                return valueOrElement(parser, only, json, offset, length);
            }
            return rest(parser, only);
        } catch (RuntimeException e) {
            throw isNamedMap(only, json, offset, length)
                    ? new SerializationException(only.failed(e).getMessage()
                            + "; a map is sent without an object with '" + names.get(0) + "' around it")
                    : only.failed(e);
        }
    }

    /**
     * Returns whether the argument is a map and the JSON object's only member is probably named after the parameter.
     */
    private boolean isNamedMap(Position only, byte[] json, int offset, int length) {
        byte[] quoted = ('"' + names.get(0) + '"').getBytes(StandardCharsets.UTF_8);
        return only.isMap() && beginsWith(quoted, json, offset, length);
    }

    /**
     * Decodes the only argument from a bean, or from an object whose only member has the parameter's name and contains
     * the bean. Callers may use the wrapped form because methods with several parameters require it. If the wrapper
     * were decoded as the bean itself, all properties of the bean would be null.
     */
    private @Nullable Object wrappedOrValue(Position only, byte[] json, int offset, int length) {
        try (JsonParser parser = mapper.createParser(json, offset, length)) {
            parser.nextToken();
            if (names.get(0).equals(parser.nextName()) && parser.nextToken() == JsonToken.START_OBJECT) {
                Object value = only.read(parser);
                if (parser.nextToken() == JsonToken.END_OBJECT) {
                    checkEnd(parser);
                    return value;
                }
            }
        } catch (RuntimeException e) {
            throw only.failed(e);
        }
        return value(only, json, offset, length);
    }

    /**
     * Returns whether the JSON text is an object whose first member has this name. Whitespace before the name is
     * allowed.
     */
    private static boolean beginsWith(byte[] quoted, byte[] json, int offset, int length) {
        int end = offset + length;
        int at = afterSpace(json, offset, end);
        if (at == end || json[at] != '{') {
            return false;
        }
        at = afterSpace(json, at + 1, end);
        return end - at >= quoted.length && Arrays.equals(quoted, 0, quoted.length, json, at, at + quoted.length);
    }

    private static int afterSpace(byte[] json, int from, int end) {
        int at = from;
        while (at < end && (json[at] == ' ' || json[at] == '\t' || json[at] == '\n' || json[at] == '\r')) {
            at++;
        }
        return at;
    }

    /**
     * Decodes the argument from a value, or from an array whose only element is the value. Tries the value first,
     * because only the type's deserializer determines whether the type accepts an array.
     */
    private @Nullable Object valueOrElement(JsonParser parser, Position only, byte[] json, int offset, int length) {
        try {
            return rest(parser, only);
        } catch (SerializationException asValue) {
            try (JsonParser again = mapper.createParser(json, offset, length)) {
                again.nextToken();
                if (again.nextToken() == JsonToken.END_ARRAY) {
                    throw asValue;
                }
                return element(again, only);
            }
        }
    }

    /** Decodes the value at the current token. Rejects the text if there are more tokens after the value. */
    private @Nullable Object rest(JsonParser parser, Position position) {
        Object value = position.read(parser);
        checkEnd(parser);
        return value;
    }

    /** Decodes the only element of an array. */
    private @Nullable Object element(JsonParser parser, Position only) {
        if (parser.currentToken() == JsonToken.END_ARRAY) {
            throw only.failed("expected " + only.typeName() + ", found an empty array");
        }
        Object value = only.read(parser);
        if (parser.nextToken() != JsonToken.END_ARRAY) {
            throw only.failed("expected " + only.typeName() + ", found an array of several values");
        }
        checkEnd(parser);
        return value;
    }

    /** Decodes an object with a single member. The member must have the parameter's name. */
    private @Nullable Object member(JsonParser parser, Position only) {
        String expected =
                "expected " + only.typeName() + ", or an object with '" + names.get(0) + "' alone" + names.hint();
        if (!names.get(0).equals(parser.nextName())) {
            throw only.failed(expected);
        }
        parser.nextToken();
        Object value = only.read(parser);
        if (parser.nextToken() != JsonToken.END_OBJECT) {
            throw only.failed(expected);
        }
        checkEnd(parser);
        return value;
    }

    private @Nullable Object[] several(byte[] json, int offset, int length) {
        try (JsonParser parser = mapper.createParser(json, offset, length)) {
            JsonToken first = parser.nextToken();
            if (first != JsonToken.START_ARRAY && first != JsonToken.START_OBJECT) {
                throw failed("expected an array of " + parameters.length + " values, or an object with " + names
                        + (first == null ? noJson(exampleOfAll()) : ""));
            }
            @Nullable Object[] arguments = first == JsonToken.START_ARRAY ? elements(parser) : members(parser);
            checkEnd(parser);
            return arguments;
        } catch (RuntimeException e) {
            throw JsonErrors.reading(fullName, "", e);
        }
    }

    private @Nullable Object[] elements(JsonParser parser) {
        @Nullable Object[] arguments = new @Nullable Object[parameters.length];
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (count == parameters.length) {
                throw failed("expected an array of " + parameters.length + " values, found more");
            }
            arguments[count] = parameters[count].read(parser);
            count++;
        }
        if (count < parameters.length) {
            throw failed("expected an array of " + parameters.length + " values, found " + count);
        }
        return arguments;
    }

    private @Nullable Object[] members(JsonParser parser) {
        @Nullable Object[] arguments = new @Nullable Object[parameters.length];
        boolean[] sent = new boolean[parameters.length];
        String unknown = null;
        for (String name = parser.nextName(); name != null; name = parser.nextName()) {
            parser.nextToken();
            Integer index = names.indexOf(name);
            if (index == null) {
                unknown = unknown == null ? name : unknown;
                parser.skipChildren();
            } else {
                arguments[index] = parameters[index].read(parser);
                sent[index] = true;
            }
        }
        for (int i = 0; i < sent.length; i++) {
            if (!sent[i]) {
                if (unknown != null) {
                    throw names.unknown(unknown);
                }
                arguments[i] = parameters[i].missing();
            }
        }
        return arguments;
    }

    private static JsonToken first(JsonParser parser, Position position) {
        JsonToken first = parser.nextToken();
        if (first == null) {
            throw position.failed("expected " + position.typeName() + noJson(position.example()));
        }
        return first;
    }

    /**
     * Returns the end of the error message about a body that contains no JSON, with an example of a body if there is
     * one.
     */
    private static String noJson(@Nullable String example) {
        return example == null ? ", found no JSON" : ", found no JSON; an example is " + example;
    }

    /** Returns an example of an object with all arguments; null if any argument has no example. */
    private @Nullable String exampleOfAll() {
        StringJoiner members = new StringJoiner(",", "{", "}");
        for (int i = 0; i < parameters.length; i++) {
            String value = parameters[i].example();
            if (value == null) {
                return null;
            }
            members.add('"' + names.get(i) + "\":" + value);
        }
        return members.toString();
    }

    private void checkEnd(JsonParser parser) {
        if (parser.nextToken() != null) {
            throw failed("further data after the end of the JSON");
        }
    }

    private SerializationException failed(String what) {
        return new SerializationException(fullName + ": " + what);
    }
}
