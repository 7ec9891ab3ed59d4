package tern.rpc.netty.triple;

import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoReader;

/**
 * The messages {@code google.protobuf.Value} and {@code ListValue} (google/protobuf/struct.proto). Callers that know a
 * Java interface only from server reflection send arguments in these messages: a single argument as a Value, and no
 * arguments or several arguments as a ListValue. This class converts the messages to JSON and back without protobuf's
 * classes. Stateless.
 */
final class ValueMessages {

    // The field numbers of a Value. Exactly one of these fields is set.
    static final int NULL = 1;
    static final int NUMBER = 2;
    static final int STRING = 3;
    static final int BOOL = 4;
    static final int STRUCT = 5;
    static final int LIST = 6;

    /**
     * The number of the only field in a ListValue and in a Struct. In a ListValue, this field contains Values; in a
     * Struct, it contains entries.
     */
    static final int ELEMENT = 1;

    // The field numbers of a Struct entry.
    static final int KEY = 1;
    static final int ENTRY_VALUE = 2;

    /** The wire types of a Value's fields, indexed by field number. */
    private static final int[] FORMS = {
        -1,
        ProtoReader.VARINT,
        ProtoReader.FIXED64,
        ProtoReader.BYTES,
        ProtoReader.VARINT,
        ProtoReader.BYTES,
        ProtoReader.BYTES
    };

    /** The maximum nesting depth, which is the same as for all JSON (docs/limits.md). */
    static final int MAX_DEPTH = 64;

    private ValueMessages() {}

    /**
     * Returns whether a request is a Value or a ListValue. Any other request is Triple's wrapper message. The wrapper
     * message also begins with field 1, which contains the name of a serialization. This name never begins with a byte
     * that is the tag of a Value.
     *
     * @param parameters the number of the method's parameters
     */
    static boolean isRequest(byte[] bytes, int offset, int length, int parameters) {
        if (length == 0) {
            return true;
        }
        if (parameters == 1) {
            return isTag(bytes[offset]);
        }
        return bytes[offset] == (ELEMENT << 3 | ProtoReader.BYTES) && isElement(bytes, offset + 1, offset + length);
    }

    /**
     * Returns whether the length at this position can be the length of a Value. If so, the length is 0, or the tag of a
     * Value's field follows.
     */
    private static boolean isElement(byte[] bytes, int from, int end) {
        int at = from;
        while (at < end && bytes[at] < 0) {
            at++;
        }
        return at < end && (bytes[at] == 0 || (at + 1 < end && isTag(bytes[at + 1])));
    }

    private static boolean isTag(byte first) {
        return first > 0 && isKind(first >> 3, first & 7);
    }

    /** Returns whether a Value has a field with this number and wire type. */
    static boolean isKind(int field, int form) {
        return field > 0 && field < FORMS.length && FORMS[field] == form;
    }

    /**
     * Converts a request to JSON. The result is the value of the only parameter, or an array of all values.
     *
     * @throws PlainProtobufException if the bytes are not a valid Value or ListValue
     * @throws tern.rpc.serialization.SerializationException if JSON does not support a value, or the nesting is too
     *     deep
     */
    static void requestToJson(byte[] bytes, int offset, int length, int parameters, OutputBuffer json) {
        ValueToJson writing = new ValueToJson(bytes, json);
        if (parameters == 1) {
            writing.value(offset, length);
        } else {
            writing.list(offset, length);
        }
    }

    /**
     * Converts JSON to a Value. A number that a double cannot represent exactly, such as a large {@code long}, is
     * converted to a string, as protobuf's JSON does with 64-bit integers.
     *
     * @throws tern.rpc.serialization.SerializationException if the bytes are not JSON or their nesting is too deep
     */
    static void jsonToValue(byte[] json, int length, OutputBuffer out) {
        new JsonToValue(json, length, out).document();
    }
}
