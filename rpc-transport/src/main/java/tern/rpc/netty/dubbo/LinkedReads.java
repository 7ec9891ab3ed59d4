package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.handler.codec.ByteToMessageDecoder;

/**
 * Appends read bytes to an incomplete frame. Large reads are linked, so that a large body is copied only once, by the
 * thread that decodes it. Small reads are copied, so that they do not occupy many buffers. Confined to the event loop.
 */
final class LinkedReads implements ByteToMessageDecoder.Cumulator {

    static final LinkedReads INSTANCE = new LinkedReads();

    /** Minimum size of a linked read. Copying fewer bytes costs less than a link. */
    private static final int MIN_LINKED_BYTES = 4 << 10;

    /** The number of allowed parts in addition to one for every {@link #MIN_LINKED_BYTES} bytes. */
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

    /** Whether there are few parts. Merging all parts would need a buffer of up to twice their size. */
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

    /** Whether a read is linked. Linking keeps the whole buffer, so the buffer must be at least half full. */
    private static boolean isWorthLinking(ByteBuf read) {
        int bytes = read.readableBytes();
        return bytes >= MIN_LINKED_BYTES && bytes >= read.capacity() / 2;
    }
}
