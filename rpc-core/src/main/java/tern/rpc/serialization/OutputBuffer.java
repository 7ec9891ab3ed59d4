package tern.rpc.serialization;

import java.io.OutputStream;
import java.util.Arrays;

/**
 * A growing array in which writers claim space. Not thread-safe. Growth stops at a limit, so that no message is built
 * that could not be sent.
 */
public final class OutputBuffer {

    private static final int INITIAL_BYTES = 512;
    private static final int LARGEST_KEPT_BYTES = 1 << 20;

    private byte[] array = new byte[INITIAL_BYTES];
    private int position;
    private int limit = Integer.MAX_VALUE;

    /** What may be claimed without a look at anything else: the smaller of the array's length and the limit. */
    private int bound = INITIAL_BYTES;

    /**
     * Empties the buffer.
     *
     * @param limit bytes that it may hold at the most
     */
    public void reset(int limit) {
        if (array.length > LARGEST_KEPT_BYTES) {
            array = new byte[INITIAL_BYTES];
        }
        this.position = 0;
        this.limit = limit;
        this.bound = Math.min(array.length, limit);
    }

    /**
     * Makes room and moves on.
     *
     * @return where the claimed bytes begin in {@link #array()}, which may have been replaced
     * @throws MessageTooLargeException when the limit would be passed; the buffer is as before
     */
    public int claim(int bytes) {
        int start = position;
        int needed = start + bytes;
        if (needed > bound || needed < 0) {
            grow(needed);
        }
        position = needed;
        return start;
    }

    /** Whether so many bytes can be claimed without another array, and within the limit. */
    public boolean hasRoom(int bytes) {
        return bytes <= bound - position;
    }

    public void write(byte[] bytes, int offset, int length) {
        int start = claim(length);
        System.arraycopy(bytes, offset, array, start, length);
    }

    public void write(int value) {
        int start = claim(1);
        array[start] = (byte) value;
    }

    /** The present array; another one after the next {@link #claim}. */
    public byte[] array() {
        return array;
    }

    /** How many bytes it may hold at the most. */
    public int limit() {
        return limit;
    }

    /** How many bytes were written. */
    public int position() {
        return position;
    }

    /** Takes back what was written after this position. */
    public void rewind(int earlier) {
        position = earlier;
    }

    public byte[] toByteArray() {
        return Arrays.copyOf(array, position);
    }

    /** A stream that writes here; never fails but for the limit. */
    public OutputStream asStream() {
        return new OutputStream() {
            @Override
            public void write(int value) {
                OutputBuffer.this.write(value);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) {
                OutputBuffer.this.write(bytes, offset, length);
            }
        };
    }

    private void grow(int needed) {
        if (needed > limit || needed < 0) {
            throw new MessageTooLargeException(limit);
        }
        array = Arrays.copyOf(array, (int) Math.min(Math.max(needed, array.length * 2L), Integer.MAX_VALUE - 8));
        bound = Math.min(array.length, limit);
    }
}
