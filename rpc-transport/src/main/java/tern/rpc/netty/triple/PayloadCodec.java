package tern.rpc.netty.triple;

import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.protobuf.ProtobufCodec;

/**
 * The codec of a method's messages (docs/wire-protocol.md 3.4). For a streaming method, each element of the stream is a
 * message. Every method throws {@link SerializationException} if a value cannot be encoded or the bytes are invalid.
 * Thread-safe.
 */
sealed interface PayloadCodec permits WrapperCodec, ValueCodec, PayloadCodec.Protobuf, PayloadCodec.Raw {

    MethodDescriptor method();

    /** Encodes the arguments of a request and appends them to the buffer. */
    void writeRequest(Object[] arguments, OutputBuffer out);

    /** Decodes a request. Returns one value for each parameter. */
    Object[] readRequest(byte[] bytes, int offset, int length);

    /** Encodes the result of a call, or one message of a streamed answer, and appends it to the buffer. */
    void writeResponse(@Nullable Object value, OutputBuffer out);

    /** @param sender identifies the server that sent the answer ({@link ObjectReader#start}) */
    @Nullable
    Object readResponse(byte[] bytes, int offset, int length, Object sender);

    /** A codec for protobuf messages. For a method without parameters, the request is an empty message. */
    record Protobuf(MethodDescriptor method) implements PayloadCodec {

        private static final SeldomWarning WARNING = new SeldomWarning(
                LoggerFactory.getLogger(ProtobufCodec.class), NanoClock.SYSTEM, Duration.ofMinutes(1));

        private static final ProtobufCodec MESSAGES = new ProtobufCodec(WARNING::warn);

        @Override
        public void writeRequest(Object[] arguments, OutputBuffer out) {
            if (arguments.length > 0) {
                MESSAGES.write(arguments[0], out);
            }
        }

        @Override
        public Object[] readRequest(byte[] bytes, int offset, int length) {
            return method.parameters().isEmpty()
                    ? new Object[0]
                    : new Object[] {MESSAGES.parse(method.parameters().get(0).raw(), bytes, offset, length)};
        }

        @Override
        public void writeResponse(@Nullable Object value, OutputBuffer out) {
            if (value == null) {
                throw new SerializationException(method + " answers with a protobuf message, not with null");
            }
            MESSAGES.write(value, out);
        }

        @Override
        public Object readResponse(byte[] bytes, int offset, int length, Object sender) {
            return MESSAGES.parse(method.result().raw(), bytes, offset, length);
        }
    }

    /** A codec for raw bytes, which the application encodes and decodes itself. */
    record Raw(MethodDescriptor method) implements PayloadCodec {

        @Override
        public void writeRequest(Object[] arguments, OutputBuffer out) {
            write(arguments[0], out);
        }

        @Override
        public Object[] readRequest(byte[] bytes, int offset, int length) {
            return new Object[] {Arrays.copyOfRange(bytes, offset, offset + length)};
        }

        @Override
        public void writeResponse(@Nullable Object value, OutputBuffer out) {
            write(value, out);
        }

        @Override
        public Object readResponse(byte[] bytes, int offset, int length, Object sender) {
            return Arrays.copyOfRange(bytes, offset, offset + length);
        }

        private void write(@Nullable Object value, OutputBuffer out) {
            if (!(value instanceof byte[] bytes)) {
                throw new SerializationException(method + " sends bytes, not "
                        + (value == null ? "null" : value.getClass().getName()));
            }
            out.write(bytes, 0, bytes.length);
        }
    }
}
