package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
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

    /** Beyond one for as many bytes as the smallest linked read. */
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

    /** Merging it all would take a buffer up to twice as large as what there is. */
    private static boolean hasFewParts(CompositeByteBuf linked) {
        return (linked.numComponents() - SPARE_PARTS) * SMALLEST_LINKED_BYTES <= linked.readableBytes();
    }

    private static ByteBuf copied(ByteBufAllocator allocator, ByteBuf read) {
        try {
            int bytes = read.readableBytes();
            return allocator.buffer(bytes, bytes).writeBytes(read);
        } finally {
            read.release();
        }
    }

    /** A linked buffer is kept as a whole, so it has to be half full at least. */
    private static boolean isWorthLinking(ByteBuf read) {
        int bytes = read.readableBytes();
        return bytes >= SMALLEST_LINKED_BYTES && bytes >= read.capacity() / 2;
    }
}
