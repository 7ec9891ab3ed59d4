package tern.rpc.serialization.protobuf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.ExtensionRegistryLite;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.LargeMessages;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/** Decodes messages of one generated class. Thread-safe. */
final class MessageBytes {

    private final String name;
    private final MessageLite defaultInstance;
    private final Parser<? extends MessageLite> parser;
    private final Parser<? extends MessageLite> droppingParser;
    // the fields that the parser recognizes; null for a lite message, which has no descriptor
    private final @Nullable KnownFields known;
    private final Consumer<String> warnings;

    private MessageBytes(Class<?> type, MessageLite defaultInstance, Consumer<String> warnings) {
        this.name = type.getName();
        this.defaultInstance = defaultInstance;
        this.parser = defaultInstance.getParserForType();
        if (defaultInstance instanceof Message message) {
            this.droppingParser = DiscardUnknownFieldsParser.wrap(message.getParserForType());
            this.known = KnownFields.of(message.getDescriptorForType());
        } else {
            this.droppingParser = parser;
            this.known = null;
        }
        this.warnings = warnings;
    }

    static boolean isMessage(Class<?> type) {
        return MessageLite.class.isAssignableFrom(type);
    }

    /** @param warnings called on the decoding thread for each message whose unknown fields are dropped */
    static MessageBytes of(Class<?> type, Consumer<String> warnings) {
        try {
            return new MessageBytes(
                    type, (MessageLite) type.getMethod("getDefaultInstance").invoke(null), warnings);
        } catch (ReflectiveOperationException | ClassCastException | NullPointerException e) {
            throw new IllegalArgumentException(
                    type.getName() + " is not a generated protobuf message class; declare such a class", e);
        }
    }

    MessageLite defaultInstance() {
        return defaultInstance;
    }

    MessageLite parse(byte[] bytes, int offset, int length) {
        try {
            CodedInputStream input = CodedInputStream.newInstance(bytes, offset, length);
            input.setRecursionLimit(ProtobufCodec.MAX_DEPTH);
            MessageLite message =
                    parserFor(bytes, offset, length).parseFrom(input, ExtensionRegistryLite.getEmptyRegistry());
            input.checkLastTagWas(0);
            return message;
        } catch (InvalidProtocolBufferException e) {
            throw new SerializationException("not a message " + name + " (" + length + " bytes): " + e.getMessage(), e);
        }
    }

    /**
     * Returns the parser for one encoded message. The parser keeps unknown fields, so that they can be forwarded, but
     * drops them if there are too many ({@link UnknownFields}).
     */
    private Parser<? extends MessageLite> parserFor(byte[] bytes, int offset, int length) {
        if (known == null || !UnknownFields.canBeTooMany(length)) {
            return parser;
        }
        UnknownFields unknown = UnknownFields.count(known, bytes, offset, length);
        LargeMessages.checkObjects(unknown.objectBytes(), length);
        if (unknown.messagesWithValues() > unknown.mostMessagesWithValues()) {
            throw new SerializationException("message " + name + " (" + length + " bytes) has "
                    + unknown.messagesWithValues()
                    + " parts with a number that their enum does not have, more than the "
                    + unknown.mostMessagesWithValues()
                    + " that are read; generate the class from the sender's .proto file, or send fewer such parts");
        }
        if (unknown.fields() <= unknown.mostFields()) {
            return parser;
        }
        warnings.accept("message " + name + " (" + length + " bytes) has " + unknown.fields()
                + " fields that its class does not know, more than the " + unknown.mostFields()
                + " that are kept; they were dropped and are missing if the message is passed on;"
                + " generate the class from the sender's .proto file, or send fewer such fields in a message");
        return droppingParser;
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
