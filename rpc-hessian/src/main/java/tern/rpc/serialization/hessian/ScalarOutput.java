package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.OutputBuffer;

/**
 * Writes scalar values, each in its shortest form, directly into the array of an {@link OutputBuffer}. Not thread-safe.
 *
 * <p>hessian-lite writes the same bytes to an 8 KiB buffer, splits binary data at the end of that buffer, and flushes
 * the buffer when a value might not fit. To split binary data at the same places, this class simulates that buffer:
 * {@link #window} is the position where hessian-lite's buffer would currently begin.
 */
final class ScalarOutput {

    /** The size of hessian-lite's buffer. */
    private static final int WINDOW = 8 << 10;

    /** hessian-lite flushes its buffer before a value if fewer bytes than this are free. */
    static final int ROOM = 16;

    /**
     * hessian-lite flushes its buffer before a date, a class definition or the end of a compound value if fewer bytes
     * than this are free.
     */
    static final int WIDE_ROOM = 32;

    private static final int TEXT_CHUNK = 0x8000;
    private static final int MIN_SHORTEST = -0x10;
    private static final int GREATEST_SHORTEST = 0x2f;
    private static final long MINUTE = 60_000;

    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final TextEncoder encoder = new TextEncoder();
    private OutputBuffer out;
    private int window;

    ScalarOutput(OutputBuffer out) {
        start(out);
    }

    void start(OutputBuffer buffer) {
        this.out = buffer;
        this.window = buffer.position();
    }

    /** Releases the array of the last message. */
    void forget() {
        encoder.forget();
    }

    /** Records that hessian-lite's buffer would be flushed at the current position. */
    void flush() {
        window = out.position();
    }

    void room(int bytes) {
        int position = out.position();
        if (position - window > WINDOW - bytes) {
            window = position;
        }
    }

    void tag(int tag) {
        out.write(tag);
    }

    /**
     * Appends previously encoded bytes. If hessian-lite would flush its buffer within these bytes, writes nothing and
     * returns false.
     */
    boolean append(byte[] encoded) {
        if (out.position() - window + encoded.length > WINDOW - WIDE_ROOM) {
            return false;
        }
        out.write(encoded, 0, encoded.length);
        return true;
    }

    void writeNull() {
        room(ROOM + 1);
        out.write('N');
    }

    void writeBoolean(boolean value) {
        room(ROOM);
        out.write(value ? 'T' : 'F');
    }

    void writeInt(int value) {
        room(ROOM + 1);
        if (value >= MIN_SHORTEST && value <= GREATEST_SHORTEST) {
            out.write(0x90 + value);
        } else if (value >= -0x800 && value <= 0x7ff) {
            write(0xc8 + (value >> 8), value);
        } else if (value >= -0x40000 && value <= 0x3ffff) {
            write(0xd4 + (value >> 16), value >> 8, value);
        } else {
            writeInt('I', value);
        }
    }

    /**
     * Writes list elements until an element is not a one-byte int, or until hessian-lite would flush its buffer.
     *
     * @return the number of ints written
     */
    int writeShortestInts(List<?> elements, int from, int to) {
        int maxInts = Math.min(to - from, WINDOW - ROOM - used());
        if (maxInts <= 0) {
            return 0;
        }
        int at = out.claim(maxInts); // one byte for each int, because this method writes only one-byte ints
        byte[] array = out.array();
        int run = 0;
        while (run < maxInts
                && elements.get(from + run) instanceof Integer value
                && value >= MIN_SHORTEST
                && value <= GREATEST_SHORTEST) {
            array[at + run] = (byte) (0x90 + value);
            run++;
        }
        out.rewind(at + run);
        return run;
    }

    void writeLong(long value) {
        room(ROOM + 1);
        int low = (int) value;
        if (low != value) {
            writeLong('L', value);
        } else if (low >= -0x8 && low <= 0xf) {
            out.write(0xe0 + low);
        } else if (low >= -0x800 && low <= 0x7ff) {
            write(0xf8 + (low >> 8), low);
        } else if (low >= -0x40000 && low <= 0x3ffff) {
            write(0x3c + (low >> 16), low >> 8, low);
        } else {
            writeInt('Y', low);
        }
    }

    void writeDouble(double value) {
        room(ROOM + 1);
        int whole = (int) value;
        if (whole == value && whole == (short) whole && !isMinusZero(value)) {
            writeWhole(whole);
            return;
        }
        int mills = (int) (value * 1000);
        if (0.001 * mills == value && !isMinusZero(value)) {
            writeInt(0x5f, mills);
        } else {
            writeLong('D', Double.doubleToLongBits(value));
        }
    }

    /** Returns whether the value is -0.0. The short forms would lose the sign of this value. */
    private static boolean isMinusZero(double value) {
        return value == 0 && Double.doubleToRawLongBits(value) != 0;
    }

    private void writeWhole(int value) {
        if (value == 0 || value == 1) {
            out.write(0x5b + value);
        } else if (value == (byte) value) {
            write(0x5d, value);
        } else {
            write(0x5e, value >> 8, value);
        }
    }

    /**
     * Writes a date.
     *
     * @param millis the milliseconds since 1970-01-01 UTC
     */
    void writeDate(long millis) {
        room(WIDE_ROOM);
        long minutes = millis / MINUTE;
        if (minutes * MINUTE == millis && minutes == (int) minutes) {
            writeInt('K', (int) minutes);
        } else {
            writeLong('J', millis);
        }
    }

    void writeString(@Nullable String text) {
        if (text == null) {
            writeNull();
            return;
        }
        int from = 0;
        while (text.length() - from > TEXT_CHUNK) {
            int to = from + TEXT_CHUNK;
            if (Character.isHighSurrogate(text.charAt(to - 1))) {
                to--;
            }
            room(ROOM + 1);
            write('R', (to - from) >> 8, to - from);
            writeUnits(text, from, to);
            from = to;
        }
        room(ROOM + 1);
        int length = text.length() - from;
        if (length <= 0x1f) {
            out.write(length);
        } else if (length <= 0x3ff) {
            write(0x30 + (length >> 8), length);
        } else {
            write('S', length >> 8, length);
        }
        writeUnits(text, from, text.length());
    }

    /**
     * Writes UTF-16 code units. Records the positions where hessian-lite would flush its buffer. hessian-lite checks
     * the free space before each character.
     */
    private void writeUnits(String text, int from, int to) {
        int start = out.position();
        encoder.append(text, from, to, out);
        int end = out.position();
        int full = WINDOW - ROOM;
        if (end - window <= full) {
            return;
        }
        byte[] bytes = out.array();
        int at = Math.max(start, window + full);
        while (at < end) {
            if ((bytes[at] & 0xc0) == 0x80) {
                at++;
            } else {
                window = at;
                at += full;
            }
        }
    }

    void writeBytes(byte[] bytes, int offset, int length) {
        int from = offset;
        int end = offset + length;
        while (WINDOW - used() - 3 < end - from) {
            int size = WINDOW - used() - 3;
            if (size < ROOM) {
                flush();
                size = Math.min(WINDOW - 3, end - from);
            }
            writeChunk(bytes, from, size);
            from += size;
            flush();
        }
        room(ROOM);
        int rest = end - from;
        if (rest <= 0xf) {
            out.write(0x20 + rest);
        } else if (rest <= 0x3ff) {
            write(0x34 + (rest >> 8), rest);
        } else {
            write('B', rest >> 8, rest);
        }
        out.write(bytes, from, rest);
    }

    /** Writes a chunk of binary data that is not the last chunk. */
    void writeChunk(byte[] bytes, int offset, int length) {
        write('A', length >> 8, length);
        out.write(bytes, offset, length);
    }

    void writeDefinition(String name, List<String> fields) {
        room(WIDE_ROOM);
        out.write('C');
        writeString(name);
        writeInt(fields.size());
        fields.forEach(this::writeString);
    }

    private int used() {
        return out.position() - window;
    }

    private void write(int first, int second) {
        int at = out.claim(2);
        byte[] array = out.array();
        array[at] = (byte) first;
        array[at + 1] = (byte) second;
    }

    private void write(int first, int second, int third) {
        int at = out.claim(3);
        byte[] array = out.array();
        array[at] = (byte) first;
        array[at + 1] = (byte) second;
        array[at + 2] = (byte) third;
    }

    private void writeInt(int tag, int value) {
        int at = out.claim(1 + Integer.BYTES);
        byte[] array = out.array();
        array[at] = (byte) tag;
        INT.set(array, at + 1, value);
    }

    private void writeLong(int tag, long value) {
        int at = out.claim(1 + Long.BYTES);
        byte[] array = out.array();
        array[at] = (byte) tag;
        LONG.set(array, at + 1, value);
    }
}
