package tern.rpc.netty.triple;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tern.rpc.JavaShape;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.ValueType;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ProtoReader;
import tern.rpc.serialization.SerializationException;

/**
 * A {@code TripleRequestWrapper} with undecoded arguments (docs/wire-protocol.md 3.4). Valid until the array is
 * changed.
 */
final class WrapperRequest {

    static final int ARGUMENTS = 2;
    static final int ARGUMENT_TYPES = 3;

    /** The maximum number of parameters of a Java method (JVM specification, 4.3.3). */
    private static final int MAX_ARGUMENTS = 255;

    private static final int MAX_TYPE = 512;

    /**
     * Matches the names of primitive types, of classes in packages, and of arrays, as {@link Class#getName} returns
     * them.
     */
    private static final Pattern JAVA_TYPE = Pattern.compile(
            "boolean|byte|char|short|int|long|float|double|\\[+([BCDFIJSZ]|L[\\w$.]+;)|[\\w$]+(\\.[\\w$]+)+");

    private final byte[] bytes;
    private final String serializeType;
    private final int[] ranges; // the offset and the length of each argument
    private final int arguments;
    private final int offset; // the index at which the message starts in the array
    private final int length;

    private WrapperRequest(byte[] bytes, String serializeType, int[] ranges, int arguments, int offset, int length) {
        this.bytes = bytes;
        this.serializeType = serializeType;
        this.ranges = ranges;
        this.arguments = arguments;
        this.offset = offset;
        this.length = length;
    }

    /**
     * Parses a request.
     *
     * @throws RpcException INVALID_ARGUMENT if the arguments have an unsupported format
     * @throws PlainProtobufException if the message is not a {@code TripleRequestWrapper}
     * @throws SerializationException if the bytes are not a valid {@code TripleRequestWrapper}
     */
    static WrapperRequest parse(byte[] bytes, int offset, int length) {
        ProtoReader fields = new ProtoReader(bytes, offset, length);
        String serializeType = "";
        int[] ranges = new int[8];
        int count = 0;
        int types = 0;
        while (fields.next()) {
            if (fields.is(WrapperCodec.SERIALIZE_TYPE, ProtoReader.BYTES)) {
                serializeType = WrapperCodec.serializeType(fields);
            } else if (fields.is(ARGUMENTS, ProtoReader.BYTES)) {
                check("arguments", count + 1, MAX_ARGUMENTS);
                int size = fields.bytes();
                if (ranges.length == 2 * count) {
                    ranges = Arrays.copyOf(ranges, 4 * count);
                }
                ranges[2 * count] = fields.position() - size;
                ranges[2 * count + 1] = size;
                count++;
            } else if (fields.is(ARGUMENT_TYPES, ProtoReader.BYTES)) {
                check("argument types", ++types, MAX_ARGUMENTS + 1);
                check("characters in the name of an argument's type", fields.bytes(), MAX_TYPE);
            } else {
                fields.skip();
            }
        }
        WrapperRequest request = new WrapperRequest(bytes, serializeType, ranges, count, offset, length);
        if (!WrapperCodec.isHessian(serializeType)) {
            throw request.unreadable();
        }
        return request;
    }

    /**
     * Returns the exception for a request whose first string does not name a hessian serialization. There are two
     * cases: the request is a wrapper message that uses another serialization, or it is a message of a client's own
     * {@code .proto} file that begins with a string. The second kind contains no names of Java types.
     */
    private RuntimeException unreadable() {
        List<String> types = types();
        boolean isWrapper = arguments > 0
                && !types.isEmpty()
                && types.stream().allMatch(type -> JAVA_TYPE.matcher(type).matches());
        String start = serializeType.length() <= 40 ? serializeType : serializeType.substring(0, 40) + "…";
        if (!isWrapper || start.isEmpty() || !serializeType.chars().allMatch(WrapperRequest::isInName)) {
            return new PlainProtobufException();
        }
        return refused(
                StatusCode.INVALID_ARGUMENT,
                "the arguments use serialization '" + start + "'; this server reads hessian4 and hessian2");
    }

    private static boolean isInName(int c) {
        return c == '-' || c == '_' || c == '.' || (c < 128 && Character.isLetterOrDigit(c));
    }

    private static void check(String what, int number, int most) {
        if (number > most) {
            throw new SerializationException("a request has " + number + " " + what + "; at most " + most);
        }
    }

    /**
     * Returns the format name in the request, {@code hessian4} or {@code hessian2}. The answer must contain the same
     * name.
     */
    String serializeType() {
        return serializeType;
    }

    int arguments() {
        return arguments;
    }

    /**
     * Moves the reader to the start of an argument.
     *
     * @param sender identifies the caller
     */
    void startArgument(ObjectReader reader, int index, Object sender) {
        reader.start(bytes, ranges[2 * index], ranges[2 * index + 1], sender);
    }

    /**
     * Selects the called method by its argument types. Ignores the types if there is only one candidate.
     *
     * @param overloads the candidates, at least one
     * @throws RpcException UNIMPLEMENTED if no candidate has these argument types
     */
    MethodDescriptor choose(List<MethodDescriptor> overloads) {
        if (overloads.size() == 1) {
            return overloads.get(0);
        }
        List<String> requested =
                types().stream().filter(type -> !isObserver(type)).toList();
        for (MethodDescriptor overload : overloads) {
            if (declaredTypes(overload).equals(requested)) {
                return overload;
            }
        }
        throw refused(
                StatusCode.UNIMPLEMENTED,
                overloads.get(0) + " has no form with parameters " + requested + "; declared are "
                        + overloads.stream()
                                .limit(20)
                                .map(overload -> declaredTypes(overload).toString())
                                .collect(Collectors.joining(", ")));
    }

    private List<String> types() {
        List<String> types = new ArrayList<>();
        ProtoReader fields = new ProtoReader(bytes, offset, length);
        while (fields.next()) {
            if (fields.is(ARGUMENT_TYPES, ProtoReader.BYTES)) {
                types.add(fields.text());
            } else {
                fields.skip();
            }
        }
        return types;
    }

    private static boolean isObserver(String type) {
        return type.equals(WrapperCodec.OBSERVER) || type.equals(StreamObserver.class.getName());
    }

    /**
     * Returns the names of a request's argument types: the types of the Java parameters, or the element type of a
     * stream.
     */
    static List<String> declaredTypes(MethodDescriptor method) {
        Method java = method.javaMethod();
        if (java == null || method.requests() != JavaShape.VALUE) {
            return method.parameters().stream()
                    .map(ValueType::raw)
                    .map(Class::getName)
                    .toList();
        }
        return Arrays.stream(java.getParameterTypes())
                .filter(type -> type != StreamObserver.class)
                .map(Class::getName)
                .toList();
    }

    private static RpcException refused(StatusCode code, String description) {
        return RpcException.refusal(code, description, Executed.NO);
    }
}
