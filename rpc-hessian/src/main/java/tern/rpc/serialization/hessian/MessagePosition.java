package tern.rpc.serialization.hessian;

import java.util.Arrays;
import tern.rpc.serialization.SerializationException;

/**
 * The bytes of one message, and the position of the next byte to read. {@link TextInput} and {@link HessianInput}
 * extend this class, so that all reading methods share one position. Not thread-safe.
 */
abstract class MessagePosition {

    private static final byte[] NOTHING = {};

    byte[] bytes = NOTHING;
    private int start;
    int position;
    int end;

    /**
     * The total number of unread values in the containers that state their length. Each value takes at least one byte.
     */
    private int promised;

    final void start(byte[] array, int offset, int length) {
        if ((offset | length | array.length - offset - length) < 0) {
            throw new IndexOutOfBoundsException(offset + " + " + length + " in an array of " + array.length);
        }
        this.bytes = array;
        this.start = offset;
        this.position = offset;
        this.end = offset + length;
        this.promised = 0;
    }

    final int remaining() {
        return end - position;
    }

    final int position() {
        return position;
    }

    final int promised() {
        return promised;
    }

    /**
     * Sets the read position. The reader moves to an earlier position to read a value again, and then moves back.
     *
     * @param promisedThere the number of values that had not been read at that position
     */
    final void moveTo(int earlier, int promisedThere) {
        this.position = earlier;
        this.promised = promisedThere;
    }

    final int next() {
        if (position >= end) {
            throw truncated();
        }
        return bytes[position++] & 0xff;
    }

    final int peek() {
        if (position >= end) {
            throw truncated();
        }
        return bytes[position] & 0xff;
    }

    /** Rejects a container whose stated number of values is larger than the remaining bytes can contain. */
    final void promise(int values) {
        if (values < 0 || values > end - position - promised) {
            throw new SerializationException(
                    values + " values claimed, " + (end - position - promised) + " bytes left" + here());
        }
        promised += values;
    }

    /** Subtracts one from the number of unread values. */
    final void fulfil() {
        promised--;
    }

    final boolean isEnd() {
        if (peek() != Tags.END) {
            return false;
        }
        position++;
        return true;
    }

    /**
     * Skips the given bytes if they come next.
     *
     * @return true if the bytes were skipped
     */
    final boolean passIf(byte[] expected) {
        if (expected.length > end - position
                || !Arrays.equals(expected, 0, expected.length, bytes, position, position + expected.length)) {
            return false;
        }
        position += expected.length;
        return true;
    }

    final byte[] copy(int from, int length) {
        return Arrays.copyOfRange(bytes, from, from + length);
    }

    final int unsignedShort() {
        require(2);
        int value = ((bytes[position] & 0xff) << 8) | (bytes[position + 1] & 0xff);
        position += 2;
        return value;
    }

    final void skip(int count) {
        require(count);
        position += count;
    }

    final SerializationException unexpected(int tag, String instead) {
        return new SerializationException("byte 0x" + Integer.toHexString(tag) + " instead of " + instead + here());
    }

    /** Returns the current position in the message, as text for error messages. */
    final String here() {
        return " (byte " + (position - start) + " of " + (end - start) + ")";
    }

    final int fourBytes() {
        require(4);
        int p = position;
        position = p + 4;
        return (bytes[p] << 24) | ((bytes[p + 1] & 0xff) << 16) | ((bytes[p + 2] & 0xff) << 8) | (bytes[p + 3] & 0xff);
    }

    final long eightBytes() {
        require(8);
        return ((long) fourBytes() << 32) | (fourBytes() & 0xffffffffL);
    }

    final void require(int count) {
        if (count > end - position) {
            throw truncated();
        }
    }

    private SerializationException truncated() {
        return new SerializationException("message ends in the middle of a value" + here());
    }
}
