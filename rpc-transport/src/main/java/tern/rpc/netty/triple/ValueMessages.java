package tern.rpc.netty.triple;

import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoReader;

/**
 * The messages {@code google.protobuf.Value} and {@code ListValue} (google/protobuf/struct.proto). Callers that know a
 * Java interface only by server reflection send arguments in them: a single parameter as a Value, none or several as a
 * ListValue. Both are converted to JSON and back without protobuf's classes. Stateless.
 */
final class ValueMessages {

    // The fields of a Value. Exactly one of them is set.
    static final int NULL = 1;
    static final int NUMBER = 2;
    static final int STRING = 3;
    static final int BOOL = 4;
    static final int STRUCT = 5;
    static final int LIST = 6;

    /** The only field of a ListValue (a Value) and of a Struct (an entry). */
    static final int ELEMENT = 1;

    // The fields of a Struct's entry.
    static final int KEY = 1;
    static final int ENTRY_VALUE = 2;

    /** The wire types of a Value's fields, by number. */
    private static final int[] FORMS = {
        -1,
        ProtoReader.VARINT,
        ProtoReader.FIXED64,
        ProtoReader.BYTES,
        ProtoReader.VARINT,
        ProtoReader.BYTES,
        ProtoReader.BYTES
    };

    /** Maximum nesting depth, as for all JSON (docs/limits.md). */
    static final int MAX_DEPTH = 64;

    private ValueMessages() {}

    /**
     * Whether a request is such a message and not Triple's wrapper. The wrapper also begins with field 1. That field is
     * the name of a serialization, whose first letter is never a tag of a Value.
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

    /** Whether the length at this position is that of a Value, which is 0 or followed by a tag of a Value. */
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

    /** Whether a Value has a field with this number and wire type. */
    static boolean isKind(int field, int form) {
        return field > 0 && field < FORMS.length && FORMS[field] == form;
    }

    /**
     * Converts a request to JSON: the value of the only parameter, or an array of all.
     *
     * @throws tern.rpc.serialization.SerializationException if it is not such a message or nests too deep
     */
    static void requestToJson(byte[] bytes, int offset, int length, int parameters, OutputBuffer json) {
        ValueToJson writing = new ValueToJson(bytes, json);
        if (parameters == 1) {
            writing.value(offset, length, 1);
        } else {
            writing.list(offset, length, 1);
        }
    }

    /**
     * Converts JSON to a Value. A number that a double cannot represent exactly, such as a large {@code long}, becomes
     * text, as for 64-bit integers in protobuf's JSON.
     *
     * @throws tern.rpc.serialization.SerializationException if it is not JSON or nests too deep
     */
    static void jsonToValue(byte[] json, int length, OutputBuffer out) {
        new JsonToValue(json, length, out).document();
    }
}
