package tern.rpc.serialization;

import java.io.OutputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

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
    private int prefixBytes;
    private @Nullable MessageKind kind;
    private boolean inTurns;
    private boolean hasTurn;

    /** What may be claimed without a look at anything else: the smaller of the array's length and the limit. */
    private int bound = INITIAL_BYTES;

    /**
     * Empties the buffer, for bytes whose limit no property sets.
     *
     * @param limit bytes that it may hold at the most
     */
    public void reset(int limit) {
        empty(limit, 0, null);
    }

    /**
     * Empties the buffer for a message and claims the bytes before it.
     *
     * @param messageBytes that the message may have at the most
     * @param prefix bytes before the message, which do not count
     * @param sort names the property when the message is too large
     */
    public void reset(int messageBytes, int prefix, MessageKind sort) {
        empty((int) Math.min(Integer.MAX_VALUE, (long) messageBytes + prefix), prefix, sort);
        claim(prefix);
    }

    /**
     * Lets few threads at a time fill arrays above 256 KiB, until the buffer is emptied. Whoever calls this calls
     * {@link #release} in a {@code finally}. {@link #claim} may then wait for 3 s, and fail with an
     * {@link tern.rpc.RpcException} of RESOURCE_EXHAUSTED.
     */
    public void takeTurns() {
        inTurns = true;
    }

    private void empty(int most, int prefix, @Nullable MessageKind sort) {
        release();
        this.position = 0;
        this.limit = most;
        this.prefixBytes = prefix;
        this.kind = sort;
        this.bound = Math.min(array.length, most);
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

    /** For texts that name the limit: the property that sets it; empty if none does. */
    public String setBy() {
        return MessageKind.setBy(kind);
    }

    /** How many bytes were written. */
    public int position() {
        return position;
    }

    /** Takes back what was written after this position. */
    public void rewind(int earlier) {
        position = earlier;
    }

    /** Lets go of an array above 1 MiB with its content, and of the turn to fill it. */
    public void release() {
        if (array.length > LARGEST_KEPT_BYTES) {
            array = new byte[INITIAL_BYTES];
            position = 0;
            bound = 0;
        }
        inTurns = false;
        if (hasTurn) {
            hasTurn = false;
            LargeMessages.leave();
        }
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
            throw new MessageTooLargeException(limit - prefixBytes, (needed & 0xFFFF_FFFFL) - prefixBytes, kind);
        }
        int larger = (int) Math.min(Math.max(needed, array.length * 2L), Integer.MAX_VALUE - 8);
        if (larger > LargeMessages.LARGE_BYTES && inTurns && !hasTurn) {
            LargeMessages.enter(kind);
            hasTurn = true;
        }
        array = Arrays.copyOf(array, larger);
        bound = Math.min(array.length, limit);
    }
}
