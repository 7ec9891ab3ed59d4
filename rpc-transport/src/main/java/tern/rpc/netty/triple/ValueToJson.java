package tern.rpc.netty.triple;

import java.nio.charset.StandardCharsets;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoReader;
import tern.rpc.serialization.SerializationException;

/**
 * Converts the messages Value and ListValue of google/protobuf/struct.proto to JSON. Rejects a message that contains
 * unknown fields and a Value that contains several fields or none, because such content can only come from a message of
 * another type.
 */
final class ValueToJson {

    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    /**
     * A double represents every integer up to this number exactly. Integers up to this bound are written without a
     * fraction, so that they can be decoded as integer types.
     */
    private static final double MAX_EXACT = 1L << 53;

    private final byte[] bytes;
    private final OutputBuffer out;

    ValueToJson(byte[] bytes, OutputBuffer out) {
        this.bytes = bytes;
        this.out = out;
    }

    /**
     * Converts a message that consists of one Value.
     *
     * @throws PlainProtobufException if the message is not a Value
     */
    void value(int offset, int length) {
        whole(() -> value(offset, length, 1));
    }

    /**
     * Converts a message that consists of one ListValue.
     *
     * @throws PlainProtobufException if the message is not a ListValue
     */
    void list(int offset, int length) {
        whole(() -> list(offset, length, 1));
    }

    private static void whole(Runnable conversion) {
        try {
            conversion.run();
        } catch (UnsupportedValueException | MessageTooLargeException | PlainProtobufException e) {
            throw e;
        } catch (SerializationException malformed) {
            // malformed bytes usually belong to a message of another type
            throw new PlainProtobufException();
        }
    }

    /** Thrown for a Value that JSON does not support. */
    private static final class UnsupportedValueException extends SerializationException {
        private static final long serialVersionUID = 1L;

        UnsupportedValueException(String problem) {
            super("google.protobuf.Value: " + problem);
        }
    }

    private void value(int offset, int length, int depth) {
        if (depth > ValueMessages.MAX_DEPTH) {
            throw new UnsupportedValueException(
                    "values nest deeper than " + ValueMessages.MAX_DEPTH + ", which is the limit");
        }
        ProtoReader fields = new ProtoReader(bytes, offset, length);
        if (!fields.next() || !ValueMessages.isKind(fields.field(), fields.wireType())) {
            throw new PlainProtobufException();
        }
        int kind = fields.field();
        int begin = fields.position();
        if (fields.wireType() == ProtoReader.BYTES) {
            int size = fields.bytes();
            begin = fields.position() - size;
        } else {
            fields.skip();
        }
        int end = fields.position();
        if (fields.next()) {
            throw new PlainProtobufException();
        }
        kind(kind, begin, end - begin, depth);
    }

    private void kind(int kind, int offset, int length, int depth) {
        switch (kind) {
            case ValueMessages.NUMBER -> number(offset);
            case ValueMessages.STRING -> string(offset, length);
            case ValueMessages.BOOL -> ascii(enumerated(offset, length, 1) == 0 ? "false" : "true");
            case ValueMessages.STRUCT -> struct(offset, length, depth);
            case ValueMessages.LIST -> list(offset, length, depth);
            default -> {
                enumerated(offset, length, 0);
                ascii("null");
            }
        }
    }

    /**
     * Reads an enum or boolean, whose values are 0 to {@code max}. Any other number shows that the message is not a
     * Value.
     */
    private long enumerated(int offset, int length, int max) {
        long number = new ProtoReader(bytes, offset, length).varint();
        if (number < 0 || number > max) {
            throw new PlainProtobufException();
        }
        return number;
    }

    private void list(int offset, int length, int depth) {
        out.write('[');
        elements(offset, length, (begin, size) -> value(begin, size, depth + 1));
        out.write(']');
    }

    private void struct(int offset, int length, int depth) {
        out.write('{');
        elements(offset, length, (begin, size) -> entry(begin, size, depth));
        out.write('}');
    }

    private interface Element {
        void write(int offset, int length);
    }

    private void elements(int offset, int length, Element element) {
        ProtoReader fields = new ProtoReader(bytes, offset, length);
        boolean first = true;
        while (fields.next()) {
            if (!fields.is(ValueMessages.ELEMENT, ProtoReader.BYTES)) {
                throw new PlainProtobufException();
            }
            if (!first) {
                out.write(',');
            }
            first = false;
            int size = fields.bytes();
            element.write(fields.position() - size, size);
        }
    }

    private void entry(int offset, int length, int depth) {
        ProtoReader fields = new ProtoReader(bytes, offset, length);
        int key = offset;
        int keyLength = 0;
        int value = offset;
        int valueLength = 0;
        while (fields.next()) {
            if (fields.is(ValueMessages.KEY, ProtoReader.BYTES)) {
                keyLength = fields.bytes();
                key = fields.position() - keyLength;
            } else if (fields.is(ValueMessages.ENTRY_VALUE, ProtoReader.BYTES)) {
                valueLength = fields.bytes();
                value = fields.position() - valueLength;
            } else {
                throw new PlainProtobufException();
            }
        }
        string(key, keyLength);
        out.write(':');
        value(value, valueLength, depth + 1);
    }

    private void number(int offset) {
        long bits = 0;
        for (int i = 7; i >= 0; i--) {
            bits = bits << 8 | (bytes[offset + i] & 0xff);
        }
        double number = Double.longBitsToDouble(bits);
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            throw new UnsupportedValueException(number + " is not a JSON number");
        }
        boolean whole = number == Math.rint(number) && Math.abs(number) <= MAX_EXACT;
        if (number == 0 && bits != 0) {
            out.write('-'); // a negative zero loses its sign when it is converted to a long
        }
        ascii(whole ? Long.toString((long) number) : Double.toString(number));
    }

    private void string(int offset, int length) {
        out.write('"');
        int plain = offset;
        for (int i = offset; i < offset + length; i++) {
            byte next = bytes[i];
            if (next == '"' || next == '\\' || (next >= 0 && next < 0x20)) {
                out.write(bytes, plain, i - plain);
                escaped(next);
                plain = i + 1;
            }
        }
        out.write(bytes, plain, offset + length - plain);
        out.write('"');
    }

    private void escaped(byte character) {
        out.write('\\');
        if (character >= 0x20) {
            out.write(character);
        } else {
            ascii("u00");
            out.write(HEX[character >> 4]);
            out.write(HEX[character & 0xf]);
        }
    }

    private void ascii(String text) {
        byte[] written = text.getBytes(StandardCharsets.US_ASCII);
        out.write(written, 0, written.length);
    }
}
