package tern.rpc.serialization.protobuf;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

    private static final Logger LOG = LoggerFactory.getLogger(ProtobufCodec.class);
    private static final boolean MESSAGES = isPresent("com.google.protobuf.MessageLite");
    private static final boolean JSON_FORM = isPresent("com.google.protobuf.util.JsonFormat");

    /** Parts inside parts, as deep as one message may go; also protobuf's JSON form is bound by it, through its reader. */
    static final int MAX_DEPTH = 64;

    private final Consumer<String> warnings;

    private final ClassValue<MessageBytes> types = new ClassValue<>() {
        @Override
        protected MessageBytes computeValue(Class<?> type) {
            return MessageBytes.of(type, warnings);
        }
    };

    private final ClassValue<MessageJson> jsonForms = new ClassValue<>() {
        @Override
        protected MessageJson computeValue(Class<?> type) {
            return MessageJson.of(types.get(type).defaultInstance());
        }
    };

    /** Logs every warning. */
    public ProtobufCodec() {
        this(LOG::warn);
    }

    /**
     * @param warnings told when fields that a message's class does not know are dropped, by the thread that reads the
     *     message, and each time: whoever logs it holds back what comes too often
     */
    public ProtobufCodec(Consumer<String> warnings) {
        this.warnings = warnings;
    }

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
     * Reads one message of a class for which {@link #isMessage} is true. Fields that the class does not know are kept and
     * written again with the message, as long as they are not more than 4,096 and one for every 16 bytes; then all of them
     * are dropped, with a warning. Those of one number in a row count as one. Lite messages keep all of theirs.
     *
     * @throws SerializationException if the bytes are not such a message, nest deeper than 64 messages, or hold more parts
     *     than 4,096 and one for every 8 bytes with a number that their enum does not have and does not keep either, as in
     *     proto2
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
