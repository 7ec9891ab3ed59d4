package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.handler.codec.ByteToMessageDecoder;

/**
 * Appends the bytes of a read to an incomplete frame. The buffers of large reads are linked without a copy, so a large
 * body is copied only once, by the thread that decodes it. Small reads are copied, because each linked read keeps its
 * whole buffer allocated. Confined to the event loop.
 */
final class LinkedReads implements ByteToMessageDecoder.Cumulator {

    static final LinkedReads INSTANCE = new LinkedReads();

    /** The minimum size of a linked read. Fewer bytes are cheaper to copy than to link. */
    private static final int MIN_LINKED_BYTES = 4 << 10;

    /** The number of parts that a frame may have in addition to one part per {@link #MIN_LINKED_BYTES} bytes. */
    private static final int SPARE_PARTS = 8;

    private LinkedReads() {}

    @Override
    public ByteBuf cumulate(ByteBufAllocator allocator, ByteBuf left, ByteBuf read) {
        if (left.isReadable() && isWorthLinking(read)) {
            return ByteToMessageDecoder.COMPOSITE_CUMULATOR.cumulate(allocator, left, read);
        }
        if (left.isReadable() && left instanceof CompositeByteBuf linked && hasFewParts(linked)) {
            return ByteToMessageDecoder.COMPOSITE_CUMULATOR.cumulate(allocator, left, copied(allocator, read));
        }
        return ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(allocator, left, read);
    }

    /**
     * Returns whether the frame has few parts: at most one for each {@link #MIN_LINKED_BYTES} bytes, plus {@link
     * #SPARE_PARTS}. If not, the parts are merged, which needs a buffer of up to twice their total size.
     */
    private static boolean hasFewParts(CompositeByteBuf linked) {
        return (linked.numComponents() - SPARE_PARTS) * MIN_LINKED_BYTES <= linked.readableBytes();
    }

    private static ByteBuf copied(ByteBufAllocator allocator, ByteBuf read) {
        try {
            int bytes = read.readableBytes();
            return allocator.buffer(bytes, bytes).writeBytes(read);
        } finally {
            read.release();
        }
    }

    /**
     * Returns whether a read is linked instead of copied. A linked read keeps its whole buffer allocated, so the buffer
     * must be at least half full.
     */
    private static boolean isWorthLinking(ByteBuf read) {
        int bytes = read.readableBytes();
        return bytes >= MIN_LINKED_BYTES && bytes >= read.capacity() / 2;
    }
}
