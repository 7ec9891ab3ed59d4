package tern.rpc.serialization.json;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.JavaShape;
import tern.rpc.MethodDescriptor;
import tern.rpc.ValueType;
import tern.rpc.serialization.OutputBuffer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.json.JsonMapper;

/**
 * Arguments and result of one method as JSON, docs/wire-protocol.md 4.2. Thread-safe; nothing is resolved per
 * call. A request message of a stream is read and written as the one argument, a response message as the result.
 *
 * <p>What reads throws {@link tern.rpc.serialization.SerializationException}, which names the parameter, the path inside
 * it and what was expected there, never a value. What writes throws the same, and
 * {@link tern.rpc.serialization.MessageTooLargeException}; the buffer is then as before.
 */
public final class JsonMethod {

    private final JsonMapper mapper;
    private final String fullName;
    private final Position[] parameters;
    private final @Nullable Position result;
    private final BodyArguments body;
    private final QueryArguments query;
    private final List<String> warnings = new ArrayList<>();

    /** @param textMapper the same, but makes numbers of text */
    JsonMethod(MethodDescriptor method, JsonMapper mapper, JsonMapper textMapper) {
        this.mapper = mapper;
        this.fullName = method.fullName();
        List<String> names = method.parameterNames();
        if (lacksNames(method)) {
            warnings.add(
                    fullName + ": its class file has no names of parameters (compile with -parameters); in JSON and"
                            + " queries they are called " + String.join(", ", names));
        }
        int count = method.parameters().size();
        this.parameters = new Position[count];
        Position[] texts = new Position[count];
        for (int i = 0; i < count; i++) {
            ValueType type = method.parameters().get(i);
            String where = fullName + ", parameter " + (i + 1) + " (" + names.get(i) + ')';
            parameters[i] = position(type, where);
            texts[i] = parameters[i].forText(textMapper);
        }
        ValueType answered = method.result();
        this.result = answered.raw() == void.class ? null : position(answered, fullName + ", result");
        this.body = new BodyArguments(mapper, fullName, names, parameters);
        this.query = new QueryArguments(mapper, names, texts);
    }

    /** The one place that looks at the Java method. */
    private static boolean lacksNames(MethodDescriptor method) {
        Method java = method.javaMethod();
        return java != null
                && method.requests() == JavaShape.VALUE
                && Arrays.stream(java.getParameters()).anyMatch(parameter -> !parameter.isNamePresent());
    }

    private Position position(ValueType type, String where) {
        Position position = new Position(mapper, type, where);
        if (position.problem() != null) {
            warnings.add(position.problem());
        }
        return position;
    }

    /** For a warning at start-up, one sentence each: names that are not known, types that JSON cannot be made into. */
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    /**
     * Reads the arguments from a body. A method without parameters ignores it. One parameter: its value, or an array of
     * just that value where an array cannot be one, or for a scalar an object whose only member bears the parameter's
     * name. Several parameters: an array of all, or an object by name in which absent ones are null. An empty body is an
     * error: whoever has a query reads that instead.
     *
     * @param strict as Connect has it: the body is the value of the one parameter
     */
    public @Nullable Object[] readArguments(byte[] json, int offset, int length, boolean strict) {
        return body.read(json, offset, length, strict);
    }

    /**
     * Reads the arguments from query parameters or a form, by name. Several values of a name fill a list. A bean or map
     * is JSON text under its own name, or else made of all parameters that are no arguments. Absent ones are null.
     *
     * @param parameters decoded, each with its values in order
     */
    public @Nullable Object[] readQuery(Map<String, List<String>> parameters) {
        return query.read(parameters);
    }

    /**
     * Writes a request that {@link #readArguments} and Dubbo 3.3.6 read back: the value of one parameter as it is, or
     * an array of several. A method without parameters sends an empty object, which is Connect's empty message.
     */
    public void writeArguments(@Nullable Object[] arguments, OutputBuffer out) {
        write(out, fullName, generator -> {
            switch (parameters.length) {
                case 0 -> {
                    generator.writeStartObject();
                    generator.writeEndObject();
                }
                case 1 -> parameters[0].write(generator, arguments[0]);
                default -> {
                    generator.writeStartArray();
                    for (int i = 0; i < parameters.length; i++) {
                        parameters[i].write(generator, arguments[i]);
                    }
                    generator.writeEndArray();
                }
            }
        });
    }

    /** Reads a result, or one message of an answer that is a stream. Null for {@code void}, whatever was sent. */
    public @Nullable Object readResult(byte[] json, int offset, int length) {
        return result == null ? null : body.value(result, json, offset, length);
    }

    /** Writes a result, or one message of an answer that is a stream; {@code null} for null and {@code void}. */
    public void writeResult(@Nullable Object value, OutputBuffer out) {
        write(out, fullName, generator -> {
            if (result == null) {
                generator.writeNull();
            } else {
                result.write(generator, value);
            }
        });
    }

    private interface Content {
        void write(JsonGenerator generator);
    }

    private void write(OutputBuffer out, String where, Content content) {
        int start = out.position();
        try (JsonGenerator generator = mapper.createGenerator(out.asStream())) {
            content.write(generator);
        } catch (RuntimeException e) {
            out.rewind(start);
            throw JsonErrors.writing(where, e);
        }
    }
}
