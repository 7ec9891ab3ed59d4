package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import tern.rpc.serialization.SerializationException;

/**
 * Decodes the strings of a message. {@link HessianInput} extends this class, so that all values share one position.
 * Before calling a method with the {@code tag} parameter, the caller reads the tag with {@link #next()}. Not
 * thread-safe.
 */
abstract class TextInput extends MessagePosition {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long NOT_ASCII = 0x8080808080808080L;
    private static final int MAX_KEPT_BYTES = 1 << 20;

    /** All UTF-8 continuation bytes, read as signed bytes, are below this value. */
    private static final int TRAIL_END = -0x40;

    /** The buffer for an ASCII string that consists of several chunks. */
    private byte[] plain = {};

    /**
     * The buffer for a string that contains non-ASCII characters. The buffer can grow to the maximum length of a chunk.
     */
    private char[] units = new char[64];

    /**
     * Returns a cheap hash of the next string, computed from its length and its last eight bytes. The result is
     * meaningful only if a string of at most 1,023 bytes comes next.
     */
    final int hashOfText() {
        if (end - position < 2) {
            return 0;
        }
        int tag = bytes[position];
        boolean isShort = tag >= 0 && tag <= 0x1f;
        int length = isShort ? tag : ((tag & 3) << 8) + (bytes[position + 1] & 0xff);
        int last = position + (isShort ? 1 : 2) + length;
        if (length < Long.BYTES || last > end) {
            return length;
        }
        long mixed = ((long) LONGS.get(bytes, last - Long.BYTES) + length) * 0x9e3779b97f4a7c15L;
        return (int) (mixed >>> Integer.SIZE);
    }

    /**
     * Reads a string.
     *
     * @param longest the maximum number of characters
     */
    final String textOf(int tag, int longest) {
        return tag == 'R' ? chunks(longest) : chunk(textLength(tag), longest);
    }

    /**
     * Reads a string that consists of several chunks, after the header of the first chunk has been read. The total
     * length of an ASCII string is determined first, so the string is copied only once.
     */
    private String chunks(int longest) {
        int first = position;
        int length = plainLength(longest);
        if (length < 0) {
            position = first;
            return wideChunks(longest);
        }
        byte[] joined = roomFor(length);
        int behind = position;
        position = first;
        int filled = 0;
        int more = 'R';
        while (filled < length) {
            int units = more == 'R' ? unsignedShort() : textLength(more);
            System.arraycopy(bytes, position, joined, filled, units);
            filled += units;
            position += units;
            more = filled < length ? next() : more;
        }
        position = behind;
        return new String(joined, 0, length, StandardCharsets.ISO_8859_1);
    }

    /**
     * Returns the total number of characters in all chunks and moves past the chunks. Returns -1 if a character is
     * not ASCII.
     */
    private int plainLength(int longest) {
        int length = 0;
        int more = 'R';
        while (true) {
            int units = more == 'R' ? unsignedShort() : textLength(more);
            if (units > longest - length) {
                throw tooLong(longest);
            }
            require(units);
            if (!isAscii(position, position + units)) {
                return -1;
            }
            position += units;
            length += units;
            if (more != 'R') {
                return length;
            }
            more = next();
        }
    }

    private byte[] roomFor(int length) {
        if (length > MAX_KEPT_BYTES) {
            return new byte[length];
        }
        if (length > plain.length) {
            plain = new byte[Integer.highestOneBit(length * 2 - 1)];
        }
        return plain;
    }

    private String wideChunks(int longest) {
        StringBuilder text = new StringBuilder();
        int more = 'R';
        while (more == 'R') {
            text.append(chunk(unsignedShort(), longest - text.length()));
            more = next();
        }
        return text.append(chunk(textLength(more), longest - text.length())).toString();
    }

    /**
     * Reads a string that is likely to occur again.
     *
     * @param longest the maximum number of characters
     * @param learn whether to add the string to the cache
     */
    final String textOf(int tag, int longest, KnownTexts known, boolean learn) {
        int length = tag == 'R' ? Integer.MAX_VALUE : textLength(tag);
        int from = position;
        if (length > longest || length > end - from) {
            return tag == 'R' ? textOf(tag, longest) : chunk(length, longest);
        }
        String found = known.find(bytes, from, length);
        if (found != null) {
            position = from + length;
            return found;
        }
        String made = chunk(length, longest);
        if (learn && position - from == length) { // The string has one byte per character, so it is ASCII.
            known.add(bytes, from, length, made);
        }
        return made;
    }

    final void skipText(int tag) {
        int more = tag;
        while (more == 'R') {
            skipUnits(unsignedShort());
            more = next();
        }
        skipUnits(textLength(more));
    }

    private int textLength(int tag) {
        if (tag <= 0x1f) {
            return tag;
        }
        if (tag >= 0x30 && tag <= 0x33) {
            return ((tag - 0x30) << 8) + next();
        }
        if (tag == 'S') {
            return unsignedShort();
        }
        throw unexpected(tag, "text");
    }

    private String chunk(int length, int longest) {
        if (length > longest) {
            throw tooLong(longest);
        }
        require(length);
        int from = position;
        if (isAscii(from, from + length)) {
            position = from + length;
            return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
        }
        return decode(length);
    }

    /** Decodes a string in which each UTF-16 code unit takes one to three bytes; surrogates are encoded separately. */
    private String decode(int length) {
        if (units.length < length) {
            units = Arrays.copyOf(units, Integer.highestOneBit(length * 2 - 1));
        }
        char[] decoded = units;
        int i = 0;
        // The minimum number of UTF-16 code units in the remaining bytes, because each code unit takes at most three
        // bytes.
        int safe = Math.min(length, (end - position) / 3);
        byte[] from = bytes;
        int at = position;
        while (i < safe) {
            int lead = from[at];
            if (lead >= 0) {
                decoded[i++] = (char) lead;
                at++;
            } else if (lead >> 4 == ~1) {
                int second = from[at + 1];
                int third = from[at + 2];
                if (second >= TRAIL_END || third >= TRAIL_END) {
                    // The method unit() decodes the rest of the string, and rejects the invalid byte that was found
                    // here.
                    break;
                }
                decoded[i++] = (char) ((lead << 12) ^ ((second & 0x3f) << 6) ^ (third & 0x3f));
                at += 3;
            } else {
                int second = from[at + 1];
                if (lead >> 5 != ~1 || second >= TRAIL_END) {
                    break;
                }
                decoded[i++] = (char) (((lead & 0x1f) << 6) | (second & 0x3f));
                at += 2;
            }
            if (i == safe) {
                safe = i + Math.min(length - i, (end - at) / 3);
            }
        }
        position = at;
        for (; i < length; i++) {
            decoded[i] = unit();
        }
        return new String(decoded, 0, length);
    }

    private char unit() {
        int lead = next();
        if (lead < 0x80) {
            return (char) lead;
        }
        if (lead >> 5 == 0b110) {
            return (char) (((lead & 0x1f) << 6) | trail());
        }
        if (lead >> 4 == 0b1110) {
            return (char) (((lead & 0xf) << 12) | (trail() << 6) | trail());
        }
        throw unexpected(lead, "a character");
    }

    private int trail() {
        int value = next();
        if (value >> 6 != 0b10) {
            throw unexpected(value, "the rest of a character");
        }
        return value & 0x3f;
    }

    private SerializationException tooLong(int longest) {
        return new SerializationException("text longer than " + longest + " characters" + here());
    }

    private void skipUnits(int length) {
        require(length);
        if (isAscii(position, position + length)) {
            position += length;
            return;
        }
        for (int i = 0; i < length; i++) {
            int lead = next();
            if (lead >= 0x80) {
                skip(lead >= 0xe0 ? 2 : 1);
            }
        }
    }

    private boolean isAscii(int from, int to) {
        byte[] array = bytes;
        int i = from;
        for (; i <= to - 4 * Long.BYTES; i += 4 * Long.BYTES) {
            long any = (long) LONGS.get(array, i)
                    | (long) LONGS.get(array, i + 8)
                    | (long) LONGS.get(array, i + 16)
                    | (long) LONGS.get(array, i + 24);
            if ((any & NOT_ASCII) != 0) {
                return false;
            }
        }
        for (; i <= to - Long.BYTES; i += Long.BYTES) {
            if (((long) LONGS.get(array, i) & NOT_ASCII) != 0) {
                return false;
            }
        }
        if (i < to && to >= Long.BYTES) {
            // The last eight bytes are read as little-endian. The shifted mask clears the bytes before index i.
            return ((long) LONGS.get(array, to - Long.BYTES) & (NOT_ASCII << ((i - (to - Long.BYTES)) * Byte.SIZE)))
                    == 0;
        }
        for (; i < to; i++) {
            if (array[i] < 0) {
                return false;
            }
        }
        return true;
    }
}
