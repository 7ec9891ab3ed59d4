package tern.rpc.serialization.protobuf;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.MessageLite;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.TypeRegistry;
import com.google.protobuf.util.JsonFormat;
import tern.rpc.serialization.LargeMessages;
import tern.rpc.serialization.SerializationException;

/**
 * Converts one message class to and from its canonical JSON form. Only this class uses protobuf-java-util. A field of
 * type {@code Any} can contain messages that are declared in the class's {@code .proto} file or in its imports.
 * Thread-safe.
 */
final class MessageJson {

    private final String name;
    private final Message like;
    private final JsonFormat.Parser parser;
    private final JsonFormat.Printer printer;

    private MessageJson(Message like) {
        this.name = like.getClass().getName();
        this.like = like;
        TypeRegistry known =
                TypeRegistry.newBuilder().add(like.getDescriptorForType()).build();
        this.parser = JsonFormat.parser().ignoringUnknownFields().usingTypeRegistry(known);
        this.printer = JsonFormat.printer().omittingInsignificantWhitespace().usingTypeRegistry(known);
    }

    /**
     * Creates the converter for a message class.
     *
     * @throws SerializationException if the class has no canonical JSON form
     */
    static MessageJson of(MessageLite defaultInstance) {
        return new MessageJson(full(defaultInstance));
    }

    Message parse(String json) {
        // protobuf-java-util first parses the text into a tree, so the tree and the message are in memory at the same
        // time
        if (LargeMessages.isChecked(json.length())) {
            LargeMessages.checkObjects(TreeEstimate.bytes(json), json.length());
        }
        Message.Builder builder = like.newBuilderForType();
        try {
            parser.merge(json, builder);
        } catch (InvalidProtocolBufferException e) {
            // The cause is omitted, because its message would contain the value.
            throw new SerializationException("not the JSON form of message " + name);
        }
        if (!builder.isInitialized()) {
            throw new SerializationException("message " + name + " lacks a required field");
        }
        return builder.build();
    }

    String print(Object message) {
        try {
            return printer.print((MessageOrBuilder) message);
        } catch (InvalidProtocolBufferException e) {
            throw new SerializationException("message " + name
                    + " has no JSON form: it holds an Any of a type that its file neither declares nor imports");
        }
    }

    private static Message full(MessageLite message) {
        if (message instanceof Message full) {
            return full;
        }
        throw new SerializationException(message.getClass().getName()
                + " is a lite message, which has no JSON form; generate it without the lite runtime");
    }
}
