package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Date;
import tern.rpc.serialization.SerializationException;

/**
 * Moves over the bytes of one message and reads what is not made of other values. Not thread-safe. The methods that
 * take a tag expect it to have been taken with {@link #next()}.
 */
final class HessianInput {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long NOT_ASCII = 0x8080808080808080L;
    private static final byte[] NOTHING = {};

    private byte[] bytes = NOTHING;
    private int start;
    private int position;
    private int end;

    /** Values that the open containers still have to come, each of them a byte at least. */
    private int promised;

    /** For text that is not ASCII; grows to the longest chunk that the grammar knows. */
    private char[] units = new char[64];

    void start(byte[] array, int offset, int length) {
        if ((offset | length | array.length - offset - length) < 0) {
            throw new IndexOutOfBoundsException(offset + " + " + length + " in an array of " + array.length);
        }
        this.bytes = array;
        this.start = offset;
        this.position = offset;
        this.end = offset + length;
        this.promised = 0;
    }

    int remaining() {
        return end - position;
    }

    int position() {
        return position;
    }

    int promised() {
        return promised;
    }

    /** Goes back, or forth again, to where something was read before. */
    void moveTo(int earlier, int promisedThere) {
        this.position = earlier;
        this.promised = promisedThere;
    }

    int next() {
        if (position >= end) {
            throw truncated();
        }
        return bytes[position++] & 0xff;
    }

    int peek() {
        if (position >= end) {
            throw truncated();
        }
        return bytes[position] & 0xff;
    }

    /** Refuses a container that claims more values than there can be bytes for them. */
    void promise(int values) {
        if (values < 0 || values > end - position - promised) {
            throw new SerializationException(
                    values + " values claimed, " + (end - position - promised) + " bytes left" + here());
        }
        promised += values;
    }

    /** One of the promised values comes now. */
    void fulfil() {
        promised--;
    }

    boolean isEnd() {
        if (peek() != Tags.END) {
            return false;
        }
        position++;
        return true;
    }

    int intOf(int tag) {
        if (tag >= 0x80) {
            if (tag < 0xc0) {
                return tag - 0x90;
            }
            if (tag < 0xd0) {
                return ((tag - 0xc8) << 8) + next();
            }
            if (tag < 0xd8) {
                return ((tag - 0xd4) << 16) + unsignedShort();
            }
        } else if (tag == 'I') {
            return fourBytes();
        }
        throw unexpected(tag, "an int");
    }

    long longOf(int tag) {
        if (tag >= 0xf0) {
            return ((tag - 0xf8L) << 8) + next();
        }
        if (tag >= 0xd8) {
            return tag - 0xe0L;
        }
        if (tag >= 0x38 && tag <= 0x3f) {
            return ((tag - 0x3cL) << 16) + unsignedShort();
        }
        if (tag == 'Y') {
            return fourBytes();
        }
        if (tag == 'L') {
            return eightBytes();
        }
        throw unexpected(tag, "a long");
    }

    double doubleOf(int tag) {
        return switch (tag) {
            case 0x5b -> 0;
            case 0x5c -> 1;
            case 0x5d -> (byte) next();
            case 0x5e -> (short) unsignedShort();
            // A product, not a quotient: writers choose this form when the product gives back their value.
            case 0x5f -> 0.001 * fourBytes();
            case 'D' -> Double.longBitsToDouble(eightBytes());
            default -> throw unexpected(tag, "a double");
        };
    }

    Date dateOf(int tag) {
        return new Date(tag == 'J' ? eightBytes() : fourBytes() * 60_000L);
    }

    /** @param longest characters that are accepted */
    String textOf(int tag, int longest) {
        if (tag != 'R') {
            return chunk(textLength(tag), longest);
        }
        StringBuilder text = new StringBuilder();
        int more = tag;
        while (more == 'R') {
            text.append(chunk(unsignedShort(), longest - text.length()));
            more = next();
        }
        return text.append(chunk(textLength(more), longest - text.length())).toString();
    }

    /**
     * A text that is likely to come again.
     *
     * @param longest characters that are accepted
     * @param learn whether to remember it
     */
    String textOf(int tag, int longest, KnownTexts known, boolean learn) {
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
        if (learn && position - from == length) { // as many bytes as characters: all of it is ASCII
            known.add(bytes, from, length, made);
        }
        return made;
    }

    void skipText(int tag) {
        int more = tag;
        while (more == 'R') {
            skipUnits(unsignedShort());
            more = next();
        }
        skipUnits(textLength(more));
    }

    byte[] binaryOf(int tag) {
        int first = position;
        int length = skipChunks(tag);
        byte[] all = new byte[length];
        int last = position;
        position = first;
        copyBinary(tag, all);
        position = last;
        return all;
    }

    void skipBinary(int tag) {
        skipChunks(tag);
    }

    int unsignedShort() {
        require(2);
        int value = ((bytes[position] & 0xff) << 8) | (bytes[position + 1] & 0xff);
        position += 2;
        return value;
    }

    void skip(int count) {
        require(count);
        position += count;
    }

    SerializationException unexpected(int tag, String instead) {
        return new SerializationException("byte 0x" + Integer.toHexString(tag) + " instead of " + instead + here());
    }

    /** For messages: where reading has come to. */
    String here() {
        return " (byte " + (position - start) + " of " + (end - start) + ")";
    }

    private int fourBytes() {
        require(4);
        int p = position;
        position = p + 4;
        return (bytes[p] << 24) | ((bytes[p + 1] & 0xff) << 16) | ((bytes[p + 2] & 0xff) << 8) | (bytes[p + 3] & 0xff);
    }

    private long eightBytes() {
        require(8);
        return ((long) fourBytes() << 32) | (fourBytes() & 0xffffffffL);
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
            throw new SerializationException("text longer than " + longest + " characters" + here());
        }
        require(length);
        int from = position;
        if (isAscii(from, from + length)) {
            position = from + length;
            return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
        }
        return decode(length);
    }

    /** Each UTF-16 unit by itself in one to three bytes, surrogates too. */
    private String decode(int length) {
        if (units.length < length) {
            units = Arrays.copyOf(units, Integer.highestOneBit(length * 2 - 1));
        }
        for (int i = 0; i < length; i++) {
            int lead = next();
            if (lead < 0x80) {
                units[i] = (char) lead;
            } else if (lead >> 5 == 0b110) {
                units[i] = (char) (((lead & 0x1f) << 6) | trail());
            } else if (lead >> 4 == 0b1110) {
                units[i] = (char) (((lead & 0xf) << 12) | (trail() << 6) | trail());
            } else {
                throw unexpected(lead, "a character");
            }
        }
        return new String(units, 0, length);
    }

    private int trail() {
        int value = next();
        if (value >> 6 != 0b10) {
            throw unexpected(value, "the rest of a character");
        }
        return value & 0x3f;
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
        int i = from;
        for (; i + 8 <= to; i += 8) {
            if (((long) LONGS.get(bytes, i) & NOT_ASCII) != 0) {
                return false;
            }
        }
        for (; i < to; i++) {
            if (bytes[i] < 0) {
                return false;
            }
        }
        return true;
    }

    /** Length of all chunks together; moves behind them. */
    private int skipChunks(int tag) {
        int total = 0;
        int more = tag;
        while (more == 'A') {
            int chunk = unsignedShort();
            skip(chunk);
            total += chunk;
            more = next();
        }
        int chunk = lastBinaryLength(more);
        skip(chunk);
        return total + chunk;
    }

    private void copyBinary(int tag, byte[] to) {
        int filled = 0;
        int more = tag;
        while (more == 'A') {
            int chunk = unsignedShort();
            System.arraycopy(bytes, position, to, filled, chunk);
            position += chunk;
            filled += chunk;
            more = next();
        }
        int chunk = lastBinaryLength(more);
        System.arraycopy(bytes, position, to, filled, chunk);
    }

    private int lastBinaryLength(int tag) {
        if (tag >= 0x20 && tag <= 0x2f) {
            return tag - 0x20;
        }
        if (tag >= 0x34 && tag <= 0x37) {
            return ((tag - 0x34) << 8) + next();
        }
        if (tag == 'B') {
            return unsignedShort();
        }
        throw unexpected(tag, "bytes");
    }

    private void require(int count) {
        if (count > end - position) {
            throw truncated();
        }
    }

    private SerializationException truncated() {
        return new SerializationException("message ends in the middle of a value" + here());
    }
}
