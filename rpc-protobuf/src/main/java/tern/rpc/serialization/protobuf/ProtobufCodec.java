package tern.rpc.serialization.protobuf;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/**
 * Encodes and decodes protobuf messages in binary and in canonical JSON form. Thread-safe. Each message class is
 * prepared on first use.
 *
 * <p>This class loads without protobuf on the class path. {@link #isMessage} then returns false for every class, and no
 * other method may be called. The JSON form also needs {@code com.google.protobuf:protobuf-java-util}; without this
 * library, the methods for JSON throw an exception.
 */
public final class ProtobufCodec {

    private static final Logger LOG = LoggerFactory.getLogger(ProtobufCodec.class);
    private static final boolean MESSAGES = isPresent("com.google.protobuf.MessageLite");
    private static final boolean JSON_FORM = isPresent("com.google.protobuf.util.JsonFormat");

    /** The maximum nesting depth of a message. The limit also applies to protobuf's JSON form. */
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

    /** Creates a codec that logs every warning. */
    public ProtobufCodec() {
        this(LOG::warn);
    }

    /**
     * @param warnings called by the decoding thread each time a message's unknown fields are dropped; a consumer that
     *     logs must limit the rate
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

    /**
     * Returns whether values of this declared type are protobuf messages. Always returns false if protobuf is not on
     * the class path.
     */
    public static boolean isMessage(Class<?> type) {
        return MESSAGES && MessageBytes.isMessage(type);
    }

    /**
     * Prepares a class for {@link #parse}.
     *
     * @throws IllegalArgumentException if the class is not a generated message class
     */
    public void prepare(Class<?> type) {
        types.get(type);
    }

    /**
     * Decodes one message. {@link #isMessage} must return true for its class. Unknown fields are kept and encoded again
     * with the message. If there are more than 4,096 unknown fields plus one for every 16 bytes of the message, all
     * unknown fields are dropped with a warning. Consecutive fields with the same field number are counted as one. Lite
     * messages keep all unknown fields.
     *
     * @throws SerializationException if the bytes are not a message of the class, if messages are nested deeper than
     *     64, or if too many messages contain an unknown enum value, which the proto2 parser stores as an unknown
     *     field. The limit is 4,096 such messages, plus one for every 8 encoded bytes
     * @throws IllegalArgumentException if the class is not a generated message class
     */
    public Object parse(Class<?> type, byte[] bytes, int offset, int length) {
        return types.get(type).parse(bytes, offset, length);
    }

    /**
     * Encodes one message. Reserves exactly the encoded size in the buffer.
     *
     * @throws tern.rpc.serialization.MessageTooLargeException if the message exceeds the buffer's limit
     * @throws SerializationException if a required field is missing
     */
    public void write(Object message, OutputBuffer out) {
        MessageBytes.write(message, out);
    }

    /**
     * Decodes the canonical JSON form. Unknown fields are skipped. The caller must have checked that the text is
     * within the limits for JSON, as {@code JsonCodec} does.
     *
     * @throws SerializationException if the text is not the JSON form of a message of this class, or if
     *     protobuf-java-util is missing
     */
    public Object fromJson(Class<?> type, String json) {
        checkJsonForm(type);
        return jsonForms.get(type).parse(json);
    }

    /**
     * Returns the canonical JSON form without whitespace.
     *
     * @throws SerializationException if the message has no canonical JSON form, or if protobuf-java-util is missing
     */
    public String toJson(Object message) {
        checkJsonForm(message.getClass());
        return jsonForms.get(message.getClass()).print(message);
    }

    /**
     * Checks that {@link #fromJson} and {@link #toJson} can handle this class.
     *
     * @throws SerializationException if they cannot; the message names the missing jar
     */
    public static void checkJsonForm(Class<?> type) {
        if (!JSON_FORM) {
            throw new SerializationException("the JSON form of message " + type.getName()
                    + " needs com.google.protobuf:protobuf-java-util, which is not on the class path");
        }
    }
}
