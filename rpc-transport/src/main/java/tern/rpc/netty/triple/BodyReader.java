package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** Splits the body of a request into messages. Confined to the event loop. */
interface BodyReader {

    /**
     * The minimum size, in bytes, of a stream's message that stays in its receive buffer. Smaller messages are copied.
     */
    int SMALL_BYTES = 4 << 10;

    /**
     * Returns a copy of the readable bytes, to which any number of bytes can be appended. {@link ByteBuf#copy()} can
     * return a buffer with a maximum capacity of only 128 KiB, depending on the allocator.
     *
     * @param bytes the bytes to copy; not released; the indices do not change
     */
    static ByteBuf copy(ByteBuf bytes) {
        int length = bytes.readableBytes();
        return bytes.alloc().buffer(length).writeBytes(bytes, bytes.readerIndex(), length);
    }

    /**
     * Returns the memory that the bytes of an incomplete message occupy. The buffer grows in steps, so it can be twice
     * as large as the bytes. For a small buffer that contains a small request, returns the number of bytes in the
     * buffer, because small requests are counted differently (docs/limits.md#memory-for-requests).
     */
    static int held(ByteBuf bytes) {
        int readable = bytes.readableBytes();
        int capacity = bytes.capacity();
        return readable < SMALL_BYTES && capacity <= 2 * SMALL_BYTES ? readable : capacity;
    }

    /**
     * A message of a request body.
     *
     * @param payload the payload, which the receiver of the frame must release
     * @param flags the flags before the message; for a body that consists of one message without a prefix, {@link
     *     MessageDeframer#COMPRESSED} or 0
     */
    record Frame(ByteBuf payload, int flags) {

        boolean isCompressed() {
            return (flags & MessageDeframer.COMPRESSED) != 0;
        }

        /**
         * Returns the message with a payload that shares no memory with other messages. A payload below 4 KiB is
         * copied. Without the copy, the payload would keep a whole read buffer of up to 64 KiB allocated while the
         * message waits. This frame must not be used afterwards.
         */
        Frame alone() {
            int length = payload.readableBytes();
            if (length >= SMALL_BYTES) {
                return this;
            }
            try {
                byte[] copy = new byte[length];
                payload.readBytes(copy);
                return new Frame(Unpooled.wrappedBuffer(copy), flags);
            } finally {
                payload.release();
            }
        }
    }

    /**
     * Adds received bytes to the body. The reader releases them.
     *
     * @throws tern.rpc.RpcException in the same cases as {@link #next}
     */
    void add(ByteBuf bytes);

    /**
     * Returns the next message.
     *
     * @param ended whether the body is complete
     * @return the message; null until it is complete
     * @throws tern.rpc.RpcException if the message is malformed or exceeds a limit
     */
    @Nullable
    Frame next(boolean ended);

    /**
     * Returns whether all bytes have been returned as messages. Called at the end of the body.
     *
     * @throws tern.rpc.RpcException if the body ends within a message
     */
    boolean isEmptyAtEnd();

    /** Returns the number of bytes of memory that the received bytes occupy until they are returned as messages. */
    int held();

    /**
     * Replaces buffers that are larger than their content, because the rest of the body might take a long time to
     * arrive.
     */
    default void compact() {}

    /** Releases the bytes that have not been returned as messages. */
    void close();
}
