package tern.rpc.transport;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.serialization.Coder;
import tern.rpc.serialization.CoderPool;
import tern.rpc.serialization.MessageKind;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.Serializer;

/** Encodes and decodes the values of the in-memory transport. Thread-safe. */
final class MemoryCodec {

    private final CoderPool coders;
    private final int maxRequestBytes;
    private final int maxResponseBytes;

    /**
     * @param maxRequestBytes the maximum size of a request
     * @param maxResponseBytes the maximum size of an answer
     */
    MemoryCodec(Serializer serializer, int maxRequestBytes, int maxResponseBytes) {
        this.maxRequestBytes = maxRequestBytes;
        this.maxResponseBytes = maxResponseBytes;
        this.coders = new CoderPool(serializer);
    }

    void prepare(ServiceDescriptor service) {
        coders.serializer().prepare(service);
    }

    /**
     * Encodes the values as one message.
     *
     * @throws SerializationException if a value cannot be encoded
     */
    byte[] encodeAll(Object[] values) {
        return encode(MessageKind.REQUEST, writer -> {
            for (Object value : values) {
                writer.writeObject(value);
            }
        });
    }

    /**
     * Encodes one value.
     *
     * @throws SerializationException if the value cannot be encoded
     */
    byte[] encode(MessageKind kind, @Nullable Object value) {
        return encode(kind, writer -> writer.writeObject(value));
    }

    byte[] encodeThrowable(Throwable failure) {
        return encode(MessageKind.RESPONSE, writer -> writer.writeThrowable(failure, 0));
    }

    private interface Content {
        void write(ObjectWriter writer);
    }

    private byte[] encode(MessageKind kind, Content content) {
        Coder coder = coders.take();
        OutputBuffer out = coder.output();
        out.reset(kind == MessageKind.REQUEST ? maxRequestBytes : maxResponseBytes, 0, kind);
        coder.writer().start(out);
        content.write(coder.writer());
        coder.writer().finish();
        byte[] bytes = out.toByteArray();
        coders.giveBack(coder);
        return bytes;
    }

    /**
     * Decodes the arguments of a call.
     *
     * @throws SerializationException if the arguments cannot be decoded
     */
    @SuppressWarnings("NullAway") // an argument may be null
    Object[] decodeAll(byte[] bytes, ServiceDescriptor service, MethodDescriptor method) {
        Coder coder = reading(bytes, service);
        Object[] values = new Object[method.parameters().size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = WrongArguments.read(coder.reader(), method, i);
        }
        coders.giveBack(coder);
        return values;
    }

    /**
     * Decodes only the first of several encoded values, which must be a string. No objects are created for the other
     * values.
     */
    String firstText(byte[] bytes) {
        Coder coder = coders.take();
        coder.reader().start(bytes, 0, bytes.length);
        String text = coder.reader().readString();
        coders.giveBack(coder);
        return text == null ? "" : text;
    }

    /**
     * Decodes one value.
     *
     * @throws SerializationException if the value cannot be decoded
     */
    @Nullable
    Object decode(byte[] bytes, MethodDescriptor method, ValueType type) {
        Coder coder = reading(bytes, method.service());
        Object value = coder.reader().readObject(type);
        coders.giveBack(coder);
        return value;
    }

    Throwable decodeThrowable(byte[] bytes, MethodDescriptor method) {
        Coder coder = reading(bytes, method.service());
        Throwable failure = coder.reader().readThrowable();
        coders.giveBack(coder);
        return failure;
    }

    private Coder reading(byte[] bytes, ServiceDescriptor service) {
        Coder coder = coders.take();
        coder.reader().start(bytes, 0, bytes.length);
        coder.reader().trust(service);
        return coder;
    }
}
