package tern.rpc.serialization.protobuf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.ExtensionRegistryLite;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import java.io.IOException;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/** One generated message class. Thread-safe. */
final class MessageBytes {

    private final String name;
    private final MessageLite defaultInstance;
    private final Parser<? extends MessageLite> parser;

    private MessageBytes(Class<?> type, MessageLite defaultInstance) {
        this.name = type.getName();
        this.defaultInstance = defaultInstance;
        this.parser = defaultInstance.getParserForType();
    }

    static boolean isMessage(Class<?> type) {
        return MessageLite.class.isAssignableFrom(type);
    }

    static MessageBytes of(Class<?> type) {
        try {
            return new MessageBytes(
                    type, (MessageLite) type.getMethod("getDefaultInstance").invoke(null));
        } catch (ReflectiveOperationException | ClassCastException | NullPointerException e) {
            throw new IllegalArgumentException(
                    type.getName() + " is no generated protobuf message class; declare one of those", e);
        }
    }

    MessageLite defaultInstance() {
        return defaultInstance;
    }

    MessageLite parse(byte[] bytes, int offset, int length) {
        try {
            CodedInputStream input = CodedInputStream.newInstance(bytes, offset, length);
            input.setRecursionLimit(ProtobufCodec.MAX_DEPTH);
            MessageLite message = parser.parseFrom(input, ExtensionRegistryLite.getEmptyRegistry());
            input.checkLastTagWas(0);
            return message;
        } catch (InvalidProtocolBufferException e) {
            throw new SerializationException("not a message " + name + " (" + length + " bytes): " + e.getMessage(), e);
        }
    }

    static void write(Object value, OutputBuffer out) {
        MessageLite message = (MessageLite) value;
        if (!message.isInitialized()) {
            throw new SerializationException("message " + message.getClass().getName() + " lacks a required field");
        }
        int size = message.getSerializedSize();
        int start = out.claim(size);
        try {
            CodedOutputStream stream = CodedOutputStream.newInstance(out.array(), start, size);
            message.writeTo(stream);
            stream.checkNoSpaceLeft();
        } catch (IOException e) {
            throw new SerializationException("message " + message.getClass().getName() + " could not be written", e);
        }
    }
}
