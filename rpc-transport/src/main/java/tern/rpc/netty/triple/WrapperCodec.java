package tern.rpc.netty.triple;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.ValueType;
import tern.rpc.serialization.Coder;
import tern.rpc.serialization.CoderPool;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoReader;
import tern.rpc.serialization.ProtoWriter;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.WrongArguments;

/**
 * Encodes Java values in the protobuf messages {@code TripleRequestWrapper} and {@code TripleResponseWrapper}
 * (docs/wire-protocol.md 3.4). Each value is a separate hessian stream. Each method has its own instance. Thread-safe.
 */
final class WrapperCodec implements PayloadCodec {

    /** The name of the hessian2 format in Dubbo's Triple requests. */
    static final String HESSIAN4 = "hessian4";

    static final String HESSIAN2 = "hessian2";

    private static final String[] USUAL_TYPES = {HESSIAN4, HESSIAN2};

    /**
     * Dubbo's observer type. In a list of argument types, it represents the stream of answers (docs/wire-protocol.md
     * 3.5).
     */
    static final String OBSERVER = "org.apache.dubbo.common.stream.StreamObserver";

    /** The field number of {@code serializeType} in requests and answers. */
    static final int SERIALIZE_TYPE = 1;

    private static final int RESPONSE_DATA = 2;
    private static final int RESPONSE_TYPE = 3;

    /**
     * The class name of the exception that a Dubbo provider sends after the deadline of a call (docs/wire-protocol.md
     * 3.7).
     */
    private static final String TIMEOUT_CLASS = "org.apache.dubbo.remoting.http12.exception.HttpRequestTimeout";

    private static final String UNKNOWN_SENDER = "unknown sender";

    private final CoderPool coders;
    private final MethodDescriptor method;
    private final byte[] serializeType;
    private final byte[] argumentTypes;
    private final byte[] resultType;

    /** Creates a codec that writes the format name {@link #HESSIAN4}. */
    WrapperCodec(CoderPool coders, MethodDescriptor method) {
        this(coders, method, encoded(SERIALIZE_TYPE, HESSIAN4), encodedTypes(method), encodedResult(method));
    }

    private WrapperCodec(
            CoderPool coders, MethodDescriptor method, byte[] serializeType, byte[] argumentTypes, byte[] resultType) {
        this.coders = coders;
        this.method = method;
        this.serializeType = serializeType;
        this.argumentTypes = argumentTypes;
        this.resultType = resultType;
    }

    private static byte[] encoded(int field, String text) {
        OutputBuffer out = new OutputBuffer();
        ProtoWriter.text(out, field, text);
        return out.toByteArray();
    }

    private static byte[] encodedTypes(MethodDescriptor method) {
        OutputBuffer out = new OutputBuffer();
        for (String type : argumentTypes(method)) {
            ProtoWriter.bytes(out, WrapperRequest.ARGUMENT_TYPES, type.getBytes(StandardCharsets.UTF_8));
        }
        return out.toByteArray();
    }

    private static byte[] encodedResult(MethodDescriptor method) {
        return encoded(RESPONSE_TYPE, method.result().raw().getName());
    }

    /**
     * Returns the argument types to send. These are the declared types without the type that represents a stream of
     * requests.
     */
    static List<String> argumentTypes(MethodDescriptor method) {
        List<String> types = new ArrayList<>(WrapperRequest.declaredTypes(method));
        if (method.type() == MethodType.SERVER_STREAMING) {
            types.add(OBSERVER);
        }
        return types;
    }

    /** Returns a codec whose answers contain the same format name as the request. */
    WrapperCodec answering(WrapperRequest request) {
        return request.serializeType().equals(HESSIAN4)
                ? this
                : new WrapperCodec(
                        coders, method, encoded(SERIALIZE_TYPE, request.serializeType()), argumentTypes, resultType);
    }

    @Override
    public MethodDescriptor method() {
        return method;
    }

    @Override
    public void writeRequest(Object[] arguments, OutputBuffer out) {
        out.write(serializeType, 0, serializeType.length);
        Coder coder = coders.take();
        for (Object argument : arguments) {
            int begun = ProtoWriter.begin(out, WrapperRequest.ARGUMENTS);
            ObjectWriter writer = coder.writer();
            writer.start(out);
            writer.writeObject(argument);
            writer.finish();
            ProtoWriter.end(out, begun);
        }
        coders.giveBack(coder);
        out.write(argumentTypes, 0, argumentTypes.length);
    }

    /**
     * Decodes a request whose sender is unknown. {@link PayloadCodecs#readRequest} decodes requests from known callers.
     */
    @Override
    public Object[] readRequest(byte[] bytes, int offset, int length) {
        return readArguments(WrapperRequest.parse(bytes, offset, length), method.service(), false, UNKNOWN_SENDER);
    }

    /**
     * Decodes the arguments.
     *
     * @param trusted the service whose classes may be instantiated
     * @param scalarsOnly whether only strings, numbers and booleans are accepted
     * @param sender identifies the caller ({@link ObjectReader#start})
     * @throws RpcException INVALID_ARGUMENT if the argument count differs from the method's parameter count
     */
    @SuppressWarnings("NullAway") // NullAway does not accept null as an element of this array
    Object[] readArguments(WrapperRequest request, ServiceDescriptor trusted, boolean scalarsOnly, Object sender) {
        List<ValueType> parameters = method.parameters();
        if (request.arguments() != parameters.size()) {
            throw WrongArguments.count(method, request.arguments());
        }
        Object[] arguments = new Object[parameters.size()];
        Coder coder = coders.take();
        ObjectReader reader = coder.reader();
        for (int i = 0; i < arguments.length; i++) {
            request.startArgument(reader, i, sender);
            reader.trust(trusted);
            arguments[i] = scalarsOnly ? reader.readScalar() : WrongArguments.read(reader, method, i);
        }
        coders.giveBack(coder);
        return arguments;
    }

    @Override
    public void writeResponse(@Nullable Object value, OutputBuffer out) {
        write(out, writer -> writer.writeObject(value));
    }

    /**
     * Encodes an exception instead of an answer and appends it to the buffer. Dubbo's consumers accept only an {@code
     * Exception}, so the codec sends an {@code Error} as a string.
     *
     * @param frames the number of stack frames to send with each exception
     */
    void writeException(Throwable failure, int frames, OutputBuffer out) {
        Throwable written = failure instanceof Exception ? failure : new RuntimeException(Thrown.text(failure));
        write(out, writer -> writer.writeThrowable(written, frames));
    }

    private interface Content {
        void write(ObjectWriter writer);
    }

    private void write(OutputBuffer out, Content content) {
        out.write(serializeType, 0, serializeType.length);
        int begun = ProtoWriter.begin(out, RESPONSE_DATA);
        Coder coder = coders.take();
        coder.writer().start(out);
        content.write(coder.writer());
        coder.writer().finish();
        coders.giveBack(coder);
        ProtoWriter.end(out, begun);
        out.write(resultType, 0, resultType.length);
    }

    @Override
    public @Nullable Object readResponse(byte[] bytes, int offset, int length, Object sender) {
        return read(
                bytes,
                offset,
                length,
                sender,
                reader -> method.result().raw() == void.class ? null : reader.readObject(method.result()));
    }

    /** Decodes the exception in an answer. Converts Dubbo's exception for an exceeded deadline to Tern's exception. */
    Throwable readException(byte[] bytes, int offset, int length, Object sender) {
        Throwable read =
                (Throwable) Objects.requireNonNull(read(bytes, offset, length, sender, ObjectReader::readThrowable));
        if (read instanceof RpcException foreign
                && foreign.status().description().startsWith(TIMEOUT_CLASS + ":")) {
            return new RpcException(
                    StatusCode.DEADLINE_EXCEEDED, foreign.status().description(), Executed.MAYBE, null);
        }
        return read;
    }

    private interface Reading {
        @Nullable
        Object read(ObjectReader reader);
    }

    private @Nullable Object read(byte[] bytes, int offset, int length, Object sender, Reading reading) {
        ProtoReader fields = new ProtoReader(bytes, offset, length);
        int start = -1;
        int size = 0;
        while (fields.next()) {
            if (fields.is(SERIALIZE_TYPE, ProtoReader.BYTES)) {
                checkSerializeType(serializeType(fields));
            } else if (fields.is(RESPONSE_DATA, ProtoReader.BYTES)) {
                size = fields.bytes();
                start = fields.position() - size;
            } else {
                fields.skip();
            }
        }
        if (start < 0) {
            throw new SerializationException("the answer is a wrapper without data");
        }
        Coder coder = coders.take();
        ObjectReader reader = coder.reader();
        reader.start(bytes, start, size, sender);
        reader.trust(method.service());
        Object value = reading.read(reader);
        coders.giveBack(coder);
        return value;
    }

    /**
     * Returns the format name in the reader's current field, as a shared constant if it is {@link #HESSIAN4} or {@link
     * #HESSIAN2}.
     */
    static String serializeType(ProtoReader fields) {
        return fields.textOf(USUAL_TYPES);
    }

    private static void checkSerializeType(String type) {
        if (!isHessian(type)) {
            throw new SerializationException("the answer uses serialization '" + type + "' instead of hessian4");
        }
    }

    /** Returns whether the format name is {@link #HESSIAN4} or {@link #HESSIAN2}. */
    static boolean isHessian(String serializeType) {
        return serializeType.equals(HESSIAN4) || serializeType.equals(HESSIAN2);
    }
}
