package tern.rpc.serialization;

import java.nio.charset.StandardCharsets;

/** Writes fields of protobuf messages (protobuf, "Encoding"). */
public final class ProtoWriter {

    private static final int BYTES = 2;

    private ProtoWriter() {}

    /** Writes a numeric field. The default value 0 is omitted. */
    public static void number(OutputBuffer out, int field, long value) {
        if (value != 0) {
            out.write(field << 3);
            varint(out, value);
        }
    }

    /** Writes a string field. The default value, which is the empty string, is omitted. */
    public static void text(OutputBuffer out, int field, String value) {
        if (!value.isEmpty()) {
            bytes(out, field, value.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Writes a bytes field, even if it is empty. */
    public static void bytes(OutputBuffer out, int field, byte[] value) {
        out.write(field << 3 | BYTES);
        varint(out, value.length);
        out.write(value, 0, value.length);
    }

    /**
     * Starts a bytes field whose length is not known in advance.
     *
     * @return the argument for {@link #end}
     */
    public static int begin(OutputBuffer out, int field) {
        out.write(field << 3 | BYTES);
        return out.claim(1);
    }

    /**
     * Ends the field and writes its length. If the length takes more than one byte, the value is moved to make room for
     * the length.
     */
    public static void end(OutputBuffer out, int begun) {
        int content = begun + 1;
        int length = out.position() - content;
        int more = varintBytes(length) - 1;
        if (more > 0) {
            out.claim(more);
            System.arraycopy(out.array(), content, out.array(), content + more, length);
        }
        byte[] array = out.array();
        int index = begun;
        int rest = length;
        while (rest > 0x7F) {
            array[index++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        array[index] = (byte) rest;
    }

    private static int varintBytes(int value) {
        int bits = 32 - Integer.numberOfLeadingZeros(value | 1);
        return (bits + 6) / 7;
    }

    private static void varint(OutputBuffer out, long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            out.write((int) rest | 0x80);
            rest >>>= 7;
        }
        out.write((int) rest);
    }
}
