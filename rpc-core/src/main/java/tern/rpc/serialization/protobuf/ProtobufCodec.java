package tern.rpc.serialization.protobuf;

import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/**
 * Protobuf messages to bytes and back, and to their canonical JSON form and back. Thread-safe. What is needed of a
 * message class is found once, at its first use.
 *
 * <p>This class loads without protobuf on the class path: then no class is a message, and no other method may be called.
 * The JSON form needs {@code com.google.protobuf:protobuf-java-util} too, and says so when it is missing.
 */
public final class ProtobufCodec {

    private static final boolean MESSAGES = isPresent("com.google.protobuf.MessageLite");
    private static final boolean JSON_FORM = isPresent("com.google.protobuf.util.JsonFormat");

    /** Parts inside parts, as deep as one message may go; also protobuf's JSON form is bound by it, through its reader. */
    static final int MAX_DEPTH = 64;

    private final ClassValue<MessageBytes> types = new ClassValue<>() {
        @Override
        protected MessageBytes computeValue(Class<?> type) {
            return MessageBytes.of(type);
        }
    };

    private final ClassValue<MessageJson> jsonForms = new ClassValue<>() {
        @Override
        protected MessageJson computeValue(Class<?> type) {
            return MessageJson.of(types.get(type).defaultInstance());
        }
    };

    private static boolean isPresent(String className) {
        try {
            Class.forName(className, false, ProtobufCodec.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    /** Whether values of this declared type are protobuf messages; false for everything without protobuf. */
    public static boolean isMessage(Class<?> type) {
        return MESSAGES && MessageBytes.isMessage(type);
    }

    /**
     * Finds out now what {@link #parse} needs of a class.
     *
     * @throws IllegalArgumentException if it is no generated message class
     */
    public void prepare(Class<?> type) {
        types.get(type);
    }

    /**
     * Reads one message of a class for which {@link #isMessage} is true.
     *
     * @throws SerializationException if the bytes are not such a message, or nest deeper than 64 messages
     * @throws IllegalArgumentException if the class is no generated message class
     */
    public Object parse(Class<?> type, byte[] bytes, int offset, int length) {
        return types.get(type).parse(bytes, offset, length);
    }

    /**
     * Writes one message, in a piece of exactly its size.
     *
     * @throws tern.rpc.serialization.MessageTooLargeException when it does not fit the buffer's limit
     * @throws SerializationException when a required field is missing
     */
    public void write(Object message, OutputBuffer out) {
        MessageBytes.write(message, out);
    }

    /**
     * Reads the canonical JSON form. Unknown fields are passed over. The text is trusted to be within the limits for
     * JSON: {@code JsonCodec} sees to that.
     *
     * @throws SerializationException if the text is not the form of such a message, or the library for it is missing
     */
    public Object fromJson(Class<?> type, String json) {
        checkJsonForm(type);
        return jsonForms.get(type).parse(json);
    }

    /**
     * The canonical JSON form, without white space.
     *
     * @throws SerializationException if the message has no such form, or the library for it is missing
     */
    public String toJson(Object message) {
        checkJsonForm(message.getClass());
        return jsonForms.get(message.getClass()).print(message);
    }

    /**
     * Whether {@link #fromJson} and {@link #toJson} will work for this class.
     *
     * @throws SerializationException naming the jar that is missing
     */
    public static void checkJsonForm(Class<?> type) {
        if (!JSON_FORM) {
            throw new SerializationException("the JSON form of message " + type.getName()
                    + " needs com.google.protobuf:protobuf-java-util, which is not on the class path");
        }
    }
}
