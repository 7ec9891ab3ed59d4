package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.ByteToMessageDecoder;

/**
 * Puts what was read behind what is left of a frame that is not complete. Large reads are linked, so that the body of a
 * large frame is copied once, by the thread that decodes it. Small ones are copied: many of them must not keep many
 * buffers. Event loop only.
 */
final class LinkedReads implements ByteToMessageDecoder.Cumulator {

    static final LinkedReads INSTANCE = new LinkedReads();

    /** Below it a copy costs less than a link. */
    private static final int SMALLEST_LINKED_BYTES = 4 << 10;

    private LinkedReads() {}

    @Override
    public ByteBuf cumulate(ByteBufAllocator allocator, ByteBuf left, ByteBuf read) {
        if (!left.isReadable() || !isWorthLinking(read)) {
            return ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(allocator, left, read);
        }
        return ByteToMessageDecoder.COMPOSITE_CUMULATOR.cumulate(allocator, left, read);
    }

    /** A linked buffer is kept as a whole, so it has to be half full at least. */
    private static boolean isWorthLinking(ByteBuf read) {
        int bytes = read.readableBytes();
        return bytes >= SMALLEST_LINKED_BYTES && bytes >= read.capacity() / 2;
    }
}
