package tern.rpc.serialization;

import java.io.OutputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A growing byte array for writers. Its size is limited, because a larger message could not be sent. Not thread-safe.
 */
public final class OutputBuffer {

    private static final int INITIAL_BYTES = 512;
    private static final int MAX_KEPT_BYTES = 1 << 20;
    private byte[] array = new byte[INITIAL_BYTES];
    private int position;
    private int limit = Integer.MAX_VALUE;
    private int prefixBytes;
    private @Nullable MessageKind kind;
    // The kind of work that needs a permit to create a large array; null if no permit is needed.
    private @Nullable LargeWork inTurns;
    private Object tenant = LargeWork.OWN_CALLS; // the tenant whose message needs the permit
    private @Nullable LargeWork turn; // the kind of work that this buffer currently has a permit for

    /**
     * The array's length or the limit, whichever is smaller. Bytes below this position can be claimed without another
     * check.
     */
    private int bound = INITIAL_BYTES;

    /**
     * Empties the buffer and sets a limit that does not come from a property.
     *
     * @param limit the maximum number of bytes
     */
    public void reset(int limit) {
        empty(limit, 0, null);
    }

    /**
     * Empties the buffer for a message, and reserves the bytes of a prefix before the message.
     *
     * @param messageBytes the maximum size of the message
     * @param prefix the number of bytes before the message, which do not count towards the limit
     * @param sort the kind of message, which determines the property named in error messages
     */
    public void reset(int messageBytes, int prefix, MessageKind sort) {
        empty((int) Math.min(Integer.MAX_VALUE, (long) messageBytes + prefix), prefix, sort);
        claim(prefix);
    }

    /**
     * Makes {@link #claim} wait for a permit before it creates an array of more than 256 KiB, because only a limited
     * number of threads may fill large arrays. {@link #claim} can then block for up to 3 s, or throw an
     * {@link tern.rpc.RpcException} with RESOURCE_EXHAUSTED. This mode ends when the buffer is released or emptied. The
     * caller must call {@link #release} in a {@code finally} block.
     *
     * @param caller identifies the caller, because callers get permits in turn; {@link LargeWork#OWN_CALLS} for a call
     *     that this process makes
     */
    public void takeTurns(Object caller) {
        inTurns = LargeWork.WRITE;
        tenant = caller;
    }

    /**
     * Works like {@link #takeTurns(Object)} for a message that is decompressed. There are separate permits for
     * decompression.
     */
    public void takeTurnsToUnpack(Object caller) {
        inTurns = LargeWork.UNPACK;
        tenant = caller;
    }

    /** Returns the permit, and keeps the buffer's content. */
    public void endTurn() {
        inTurns = null;
        tenant = LargeWork.OWN_CALLS; // the buffer is reused, and must not keep a reference to the caller
        LargeWork held = turn;
        if (held != null) {
            turn = null;
            held.leave(position);
        }
    }

    private void empty(int max, int prefix, @Nullable MessageKind sort) {
        release();
        this.position = 0;
        this.limit = max;
        this.prefixBytes = prefix;
        this.kind = sort;
        this.bound = Math.min(array.length, max);
    }

    /**
     * Reserves bytes and advances the position.
     *
     * @return the index of the first reserved byte in {@link #array()}. This call may have replaced the array
     * @throws MessageTooLargeException if the limit would be exceeded; the buffer is then unchanged
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

    /** Returns whether the given number of bytes can be claimed without growing the array or exceeding the limit. */
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

    /** Returns the buffer's current array. The next {@link #claim} may replace it. */
    public byte[] array() {
        return array;
    }

    /** Returns the maximum number of bytes. */
    public int limit() {
        return limit;
    }

    /**
     * Returns the end of an error message about the limit, such as {@code "; set by rpc.limits.max-request"}. Returns
     * an empty string if no property sets the limit.
     */
    public String setBy() {
        return MessageKind.setBy(kind);
    }

    /** Returns the number of bytes written to the buffer. */
    public int position() {
        return position;
    }

    /** Discards the bytes after the given position. */
    public void rewind(int earlier) {
        position = earlier;
    }

    /** Releases an array larger than 1 MiB, and the permit taken to fill it. */
    public void release() {
        endTurn();
        if (array.length > MAX_KEPT_BYTES) {
            array = new byte[INITIAL_BYTES];
            position = 0;
            bound = 0;
        }
    }

    public byte[] toByteArray() {
        return Arrays.copyOf(array, position);
    }

    /** Returns a stream that writes to this buffer. A write fails only if it would exceed the limit of this buffer. */
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
        // The array never needs to be larger than the limit of the buffer.
        int maxBytes = Math.min(limit, Integer.MAX_VALUE - 8);
        int larger = (int) Math.max(needed, Math.min(array.length * 2L, maxBytes));
        LargeWork work = inTurns;
        if (larger > LargeWork.LARGE_BYTES && work != null) {
            if (turn == null) {
                work.enter(kind, tenant);
                turn = work;
            }
            work.reached(needed);
        }
        array = Arrays.copyOf(array, larger);
        bound = Math.min(array.length, limit);
    }
}
