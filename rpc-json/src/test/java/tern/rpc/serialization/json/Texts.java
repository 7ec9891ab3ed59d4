package tern.rpc.serialization.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.OutputBuffer;
import tools.jackson.databind.json.JsonMapper;

/** Encodes and decodes one method's arguments and results as JSON texts. */
final class Texts {

    private static final int ROOM = 16 << 20;

    private final JsonMethod method;

    private Texts(JsonMethod method) {
        this.method = method;
    }

    static Texts of(Class<?> service, String method) {
        return of(new JsonCodec(new JsonMapper()), service, method);
    }

    static Texts of(JsonCodec codec, Class<?> service, String method) {
        return new Texts(
                codec.method(ServiceDescriptor.of(service).overloads(method).get(0)));
    }

    JsonMethod method() {
        return method;
    }

    /** Decodes arguments from the middle of an array, as a transport does. */
    @Nullable
    Object[] arguments(String json) {
        return arguments(json, false);
    }

    @Nullable
    Object[] arguments(String json, boolean oneMessage) {
        byte[] bytes = padded(json);
        return method.readArguments(bytes, 3, bytes.length - 5, oneMessage);
    }

    @Nullable
    Object argument(String json) {
        return arguments(json)[0];
    }

    @Nullable
    Object result(String json) {
        byte[] bytes = padded(json);
        return method.readResult(bytes, 3, bytes.length - 5);
    }

    /** Decodes query parameters in the form {@code a=1&a=2&b=x}. */
    @Nullable
    Object[] query(String text) {
        Map<String, List<String>> query = new LinkedHashMap<>();
        if (!text.isEmpty()) {
            for (String pair : text.split("&")) {
                String[] parts = pair.split("=", 2);
                query.merge(parts[0], List.of(parts[1]), Texts::joined);
            }
        }
        return method.readQuery(query);
    }

    String written(@Nullable Object... arguments) {
        OutputBuffer out = new OutputBuffer();
        out.reset(ROOM);
        method.writeArguments(arguments, out);
        return text(out);
    }

    String writtenResult(@Nullable Object result) {
        OutputBuffer out = new OutputBuffer();
        out.reset(ROOM);
        method.writeResult(result, out);
        return text(out);
    }

    private static List<String> joined(List<String> some, List<String> more) {
        return java.util.stream.Stream.concat(some.stream(), more.stream()).toList();
    }

    private static String text(OutputBuffer out) {
        return new String(out.array(), 0, out.position(), StandardCharsets.UTF_8);
    }

    private static byte[] padded(String json) {
        byte[] text = json.getBytes(StandardCharsets.UTF_8);
        byte[] bytes = new byte[text.length + 5];
        Arrays.fill(bytes, (byte) '"');
        System.arraycopy(text, 0, bytes, 3, text.length);
        return bytes;
    }
}
