package tern.rpc.serialization;

import java.nio.charset.StandardCharsets;

/**
 * Decodes the fields of one protobuf message one by one, without using the protobuf library. The message is a part of
 * an array (protobuf, "Encoding"). Every method throws {@link SerializationException} if the bytes are invalid. Not
 * thread-safe.
 */
public final class ProtoReader {

    public static final int VARINT = 0;
    public static final int FIXED64 = 1;
    public static final int BYTES = 2;
    public static final int FIXED32 = 5;

    private final byte[] array;
    private final int end;
    private int position;
    private int field;
    private int wireType;

    public ProtoReader(byte[] array, int offset, int length) {
        this.array = array;
        this.position = offset;
        this.end = offset + length;
    }

    /**
     * Moves to the next field. The caller must then read or skip its value.
     *
     * @return false at the end of the message
     */
    public boolean next() {
        if (position == end) {
            return false;
        }
        long tag = varint();
        field = (int) (tag >>> 3);
        wireType = (int) tag & 7;
        if (field == 0 || tag >>> 32 != 0) {
            throw new SerializationException("field " + field + " in a protobuf message; fields are 1 and above");
        }
        return true;
    }

    public int field() {
        return field;
    }

    public int wireType() {
        return wireType;
    }

    /**
     * Returns whether the current field has the given field number and wire type. The caller treats a field with
     * another wire type as unknown.
     */
    public boolean is(int number, int form) {
        return field == number && wireType == form;
    }

    public long varint() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (position == end) {
                throw cut();
            }
            byte one = array[position++];
            value |= (long) (one & 0x7F) << shift;
            if (one >= 0) {
                return value;
            }
        }
        throw new SerializationException("a number of more than ten bytes in a protobuf message");
    }

    /**
     * Moves to the end of the current field, whose wire type is {@link #BYTES}, and returns the length of its value.
     */
    public int bytes() {
        long length = varint();
        if (length < 0 || length > end - position) {
            throw cut();
        }
        position += (int) length;
        return (int) length;
    }

    /** Returns the index of the next byte to decode. */
    public int position() {
        return position;
    }

    /**
     * Works like {@link #text()}, but creates no String if the text equals one of the given texts, which must be ASCII.
     */
    public String textOf(String... usual) {
        int length = bytes();
        for (String one : usual) {
            if (isHere(one, length)) {
                return one;
            }
        }
        return new String(array, position - length, length, StandardCharsets.UTF_8);
    }

    private boolean isHere(String ascii, int length) {
        if (ascii.length() != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (array[position - length + i] != ascii.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    public String text() {
        int length = bytes();
        return new String(array, position - length, length, StandardCharsets.UTF_8);
    }

    public void skip() {
        switch (wireType) {
            case VARINT -> varint();
            case BYTES -> bytes();
            case FIXED64 -> skip(8);
            case FIXED32 -> skip(4);
            default -> throw new SerializationException("wire type " + wireType + " in a protobuf message");
        }
    }

    private void skip(int bytes) {
        if (bytes > end - position) {
            throw cut();
        }
        position += bytes;
    }

    private static SerializationException cut() {
        return new SerializationException("a protobuf message ends in the middle of a field");
    }
}
