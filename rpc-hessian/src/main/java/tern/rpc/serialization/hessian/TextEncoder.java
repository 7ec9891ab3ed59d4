package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import tern.rpc.serialization.OutputBuffer;

/**
 * Writes a string as one to three bytes per UTF-16 code unit. ASCII characters are written with the JDK's Latin-1
 * encoder, which encodes many characters at once and, unlike {@code String.getBytes}, makes no copy. Not thread-safe.
 */
final class TextEncoder {

    /**
     * The minimum length of a string that is written with the Latin-1 encoder. For shorter strings, starting the
     * encoder takes longer than writing the characters one by one.
     */
    private static final int SHORT_UNITS = 48;

    private static final int SEGMENT_UNITS = 1024;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    /** The prefix bits of the three bytes that encode one character, in little-endian order. */
    private static final int THREE_BYTES = 0x80_80_e0;

    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private final CharsetEncoder latin1 = StandardCharsets.ISO_8859_1.newEncoder();
    private final char[] units = new char[SEGMENT_UNITS];
    private final CharBuffer source = CharBuffer.wrap(units);
    private ByteBuffer target = ByteBuffer.allocate(0);

    /** Releases the array that the last string was written to. */
    void forget() {
        target = ByteBuffer.allocate(0);
    }

    void append(String text, int from, int to, OutputBuffer out) {
        int done = to - from < SHORT_UNITS ? appendAscii(text, from, to, out) : from;
        while (done < to) {
            int count = Math.min(to - done, SEGMENT_UNITS);
            text.getChars(done, done + count, units, 0);
            appendWide(count < SHORT_UNITS ? 0 : appendAscii(count, out), count, out);
            done += count;
        }
    }

    /**
     * Writes ASCII characters until a character needs more than one byte.
     *
     * @return the index of that character, or the end index
     */
    private static int appendAscii(String text, int from, int to, OutputBuffer out) {
        int at = out.claim(to - from);
        byte[] array = out.array();
        for (int i = from; i < to; i++) {
            char unit = text.charAt(i);
            if (unit >= 0x80) {
                out.rewind(at + i - from);
                return i;
            }
            array[at + i - from] = (byte) unit;
        }
        return to;
    }

    /**
     * Writes the ASCII characters at the start of {@link #units}.
     *
     * @param count the number of code units
     * @return the number of code units written
     */
    private int appendAscii(int count, OutputBuffer out) {
        int at = out.claim(count);
        byte[] array = out.array();
        if (target.array() != array) {
            target = ByteBuffer.wrap(array);
        }
        source.limit(count).position(0);
        target.limit(at + count).position(at);
        latin1.reset().encode(source, target, true);
        int plain = plainBytes(array, at, target.position()) - at;
        out.rewind(at + plain);
        return plain;
    }

    /** Returns the index of the first byte that is not ASCII, or the end index. */
    private static int plainBytes(byte[] array, int from, int to) {
        int at = from;
        while (at <= to - Long.BYTES && ((long) LONG.get(array, at) & HIGH_BITS) == 0) {
            at += Long.BYTES;
        }
        while (at < to && array[at] >= 0) {
            at++;
        }
        return at;
    }

    private void appendWide(int from, int to, OutputBuffer out) {
        if (from == to) {
            return;
        }
        // One additional byte is reserved, because a character takes at most 3 bytes, but 4 bytes are written at a
        // time.
        int max = 3 * (to - from) + 1;
        if (!out.hasRoom(max)) {
            appendByteByByte(from, to, out);
            return;
        }
        int at = out.claim(max);
        byte[] array = out.array();
        for (int i = from; i < to; i++) {
            char unit = units[i];
            if (unit >= 0x800) {
                INT.set(array, at, THREE_BYTES | unit >> 12 | (unit & 0xfc0) << 2 | (unit & 0x3f) << 16);
                at += 3;
            } else if (unit < 0x80) {
                array[at++] = (byte) unit;
            } else {
                array[at++] = (byte) (0xc0 | (unit >> 6));
                array[at++] = (byte) (0x80 | (unit & 0x3f));
            }
        }
        out.rewind(at);
    }

    /**
     * Writes UTF-16 code units byte by byte. Used near the buffer's size limit and near the end of its array. Enlarges
     * the array if necessary.
     */
    private void appendByteByByte(int from, int to, OutputBuffer out) {
        for (int i = from; i < to; i++) {
            char unit = units[i];
            if (unit < 0x80) {
                out.write(unit);
            } else if (unit < 0x800) {
                out.write(0xc0 | (unit >> 6));
                out.write(0x80 | (unit & 0x3f));
            } else {
                out.write(0xe0 | (unit >> 12));
                out.write(0x80 | ((unit >> 6) & 0x3f));
                out.write(0x80 | (unit & 0x3f));
            }
        }
    }
}
