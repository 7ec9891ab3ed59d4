package tern.rpc.netty.triple;

import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoReader;

/**
 * The messages {@code google.protobuf.Value} and {@code ListValue} (google/protobuf/struct.proto), in which callers that
 * know a Java interface by server reflection alone send arguments: one parameter as a Value, none or several as a
 * ListValue. Both are turned into JSON and back without protobuf's classes. Stateless.
 */
final class ValueMessages {

    // Fields of a Value, of which one is there.
    static final int NULL = 1;
    static final int NUMBER = 2;
    static final int STRING = 3;
    static final int BOOL = 4;
    static final int STRUCT = 5;
    static final int LIST = 6;

    /** The only field of a ListValue, a Value, and of a Struct, an entry. */
    static final int ELEMENT = 1;

    // Fields of an entry of a Struct.
    static final int KEY = 1;
    static final int ENTRY_VALUE = 2;

    /** Forms of the fields of a Value, by number. */
    private static final int[] FORMS = {
        -1,
        ProtoReader.VARINT,
        ProtoReader.FIXED64,
        ProtoReader.BYTES,
        ProtoReader.VARINT,
        ProtoReader.BYTES,
        ProtoReader.BYTES
    };

    /** Values inside values, as for all JSON (docs/limits.md). */
    static final int MAX_DEPTH = 64;

    private ValueMessages() {}

    /**
     * Whether a request is one of these and not Triple's wrapper, which begins with a field 1 too, the name of a
     * serialization: its first letter is no tag of a Value.
     *
     * @param parameters how many the method has
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

    /** Whether the length that begins here is that of a Value: it is 0, or a tag of a Value follows. */
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

    /** Whether a field of this number and form is one of a Value. */
    static boolean isKind(int field, int form) {
        return field > 0 && field < FORMS.length && FORMS[field] == form;
    }

    /**
     * Writes a request as JSON: the value of the one parameter, or an array of all.
     *
     * @throws tern.rpc.serialization.SerializationException if it is no such message or nests too deep
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
     * Writes JSON as a Value. A number that a double does not hold exactly, such as a large {@code long}, becomes text,
     * as protobuf writes 64-bit integers in JSON.
     *
     * @throws tern.rpc.serialization.SerializationException if it is no JSON or nests too deep
     */
    static void jsonToValue(byte[] json, int length, OutputBuffer out) {
        new JsonToValue(json, length, out).document();
    }
}
