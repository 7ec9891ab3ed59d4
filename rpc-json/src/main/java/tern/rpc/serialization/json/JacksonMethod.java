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
import tern.rpc.serialization.JsonEstimate;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.OutputBuffer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.json.JsonMapper;

/** The Jackson-based JSON codec of one method. The method's types are resolved once, not on each call. */
final class JacksonMethod implements JsonMethod {

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final MethodDescriptor method;
    private final JsonMapper mapper;
    private final String fullName;
    private final Position[] parameters;
    private final @Nullable Position result;
    private static final String MISSING_FORM = "needs com.google.protobuf:protobuf-java-util";

    /**
     * The warning that protobuf messages need an additional library. Its text contains no method name, so the warning
     * is logged only once for a gRPC service and not once for each method.
     */
    private static final String NO_MESSAGES = "Methods on protobuf messages cannot be called with JSON, which needs"
            + " com.google.protobuf:protobuf-java-util on the class path";

    private final BodyArguments body;
    private final QueryArguments query;
    private final List<String> warnings = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();

    /** @param textMapper a copy of the mapper that also accepts strings as numbers */
    JacksonMethod(MethodDescriptor method, JsonMapper mapper, JsonMapper textMapper) {
        this.method = method;
        this.mapper = mapper;
        this.fullName = method.fullName();
        List<String> names = method.parameterNames();
        boolean invented = lacksNames(method);
        if (invented) {
            warnings.add(fullName + ": its class file has no parameter names (compile with -parameters); in JSON and"
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
        warnings.addAll(Jackson2Annotations.of(method));
        ArgumentNames arguments = new ArgumentNames(fullName, names, invented);
        this.body = new BodyArguments(mapper, fullName, arguments, parameters);
        this.query = new QueryArguments(mapper, arguments, texts);
    }

    /** Returns whether the interface's class file lacks the method's parameter names. */
    private static boolean lacksNames(MethodDescriptor method) {
        Method java = method.javaMethod();
        return java != null
                && method.requests() == JavaShape.VALUE
                && Arrays.stream(java.getParameters()).anyMatch(parameter -> !parameter.isNamePresent());
    }

    private Position position(ValueType type, String where) {
        Position position = new Position(mapper, type, where);
        String problem = position.problem();
        if (problem != null) {
            String warning = problem.contains(MISSING_FORM) ? NO_MESSAGES : problem;
            if (!warnings.contains(warning)) {
                warnings.add(warning);
            }
            problems.add(problem);
        }
        String unmade = position.missingConstructor();
        if (unmade != null) {
            problems.add(unmade);
        }
        return position;
    }

    @Override
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    @Override
    public List<String> lostState() {
        List<String> lost = new ArrayList<>(problems);
        lost.addAll(Jackson2Annotations.of(method));
        lost.addAll(LostFields.of(method, mapper));
        return lost;
    }

    @Override
    public @Nullable Object[] readArguments(byte[] json, int offset, int length, boolean oneMessage) {
        int mark = byteOrderMark(json, offset, length);
        return body.read(json, offset + mark, length - mark, oneMessage);
    }

    /**
     * Returns the length of the byte order mark at the beginning of a body. Editors and shells on Windows write this
     * invisible mark. RFC 8259, 8.1 allows parsers to ignore it.
     */
    private static int byteOrderMark(byte[] json, int offset, int length) {
        return length >= BYTE_ORDER_MARK.length
                        && json[offset] == BYTE_ORDER_MARK[0]
                        && json[offset + 1] == BYTE_ORDER_MARK[1]
                        && json[offset + 2] == BYTE_ORDER_MARK[2]
                ? BYTE_ORDER_MARK.length
                : 0;
    }

    @Override
    public @Nullable Object[] readQuery(Map<String, List<String>> parameters) {
        return query.read(parameters);
    }

    @Override
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

    @Override
    public @Nullable Object readResult(byte[] json, int offset, int length) {
        JsonEstimate.check(json, offset, length);
        return result == null ? null : body.value(result, json, offset, length);
    }

    @Override
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
