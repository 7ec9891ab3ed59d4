package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The few bytes of an incomplete frame that remain in a large receive buffer after a read. A client could otherwise
 * keep a buffer of 64 KiB or more allocated on each connection with a single byte. Small remains do not count in the
 * memory for requests, so their buffers must be small, too.
 */
public final class FewBytes {

    private static final int FEW = 4 << 10;
    private static final int LARGE = 2 * FEW;

    private FewBytes() {}

    /**
     * Moves few bytes out of a large buffer.
     *
     * @param buffer the receive buffer; not released
     * @return a small buffer with the bytes, which have then been read from the large buffer; null if the buffer is
     *     small, empty, or contains many bytes
     */
    public static @Nullable ByteBuf takenFrom(ByteBuf buffer) {
        int bytes = buffer.readableBytes();
        return bytes > 0 && bytes < FEW && buffer.capacity() > LARGE
                ? buffer.alloc().buffer(bytes).writeBytes(buffer)
                : null;
    }
}
