package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;
import tern.rpc.netty.FewBytes;

/**
 * Splits received bytes into frames without decoding the bodies. The buffer grows with the received bytes, not with the
 * length that a header announces.
 */
abstract class DubboFrameDecoder extends ByteToMessageDecoder {

    /**
     * A body above the size limit is skipped if it has at most {@value} bytes, or at most twice the size limit
     * (docs/limits.md).
     */
    private static final long MAX_SKIPPED_BYTES = 64 << 20;

    private final int maxBodyBytes;
    private int toSkip;
    private int skipped; // the number of bytes of the current body that have been skipped so far

    DubboFrameDecoder(int maxBodyBytes) {
        this.maxBodyBytes = maxBodyBytes;
        setCumulator(LinkedReads.INSTANCE);
    }

    /** @param body the body of the frame; the implementation must release it */
    abstract void frame(int flags, int status, long id, ByteBuf body);

    /**
     * Called when a header announces a body that is larger than the limit.
     *
     * @return true to skip the body and continue; false if the connection is being closed
     */
    abstract boolean tooLarge(int flags, long id, int length);

    /**
     * Returns whether a body of this length may be skipped. A longer body would hold up the other calls on the
     * connection for too long.
     */
    final boolean maySkip(int length) {
        return length <= Math.max(MAX_SKIPPED_BYTES, 2L * maxBodyBytes);
    }

    /** Called when the last byte of a body has been skipped. */
    void skipEnded() {}

    /** Returns the number of received bytes of the frame that is being skipped; 0 if none is being skipped. */
    final int skippedBytes() {
        return toSkip == 0 ? 0 : DubboHeader.BYTES + skipped;
    }

    /** Called when received bytes are not a valid frame. The implementation must close the connection. */
    abstract void broken(String how);

    /** Called when the rest of a read has been moved to a smaller buffer. */
    void restMoved(ChannelHandlerContext context) {}

    /**
     * Does not request more bytes. The base class would request bytes after each read without a complete frame, even
     * while reading is paused.
     */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) throws Exception {
        discardSomeReadBytes();
        ByteBuf few = FewBytes.takenFrom(internalBuffer());
        if (few != null) {
            super.channelRead(context, few); // replaces the large buffer
            restMoved(context);
        }
        context.fireChannelReadComplete();
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (toSkip > 0) {
            skip(in);
            return;
        }
        int start = in.readerIndex();
        if (in.readableBytes() >= 2 && in.getShort(start) != DubboHeader.MAGIC) {
            in.skipBytes(in.readableBytes());
            broken("a frame does not begin with the magic bytes DA BB");
            return;
        }
        if (in.readableBytes() < DubboHeader.BYTES) {
            return;
        }
        int flags = in.getByte(start + 2) & 0xFF;
        int status = in.getByte(start + 3) & 0xFF;
        long id = in.getLong(start + 4);
        int length = in.getInt(start + 12);
        if (length < 0) {
            in.skipBytes(in.readableBytes());
            broken("a frame has the negative length " + length);
        } else if (length > maxBodyBytes) {
            in.skipBytes(DubboHeader.BYTES);
            if (tooLarge(flags, id, length)) {
                toSkip = length;
                skipped = 0;
            } else {
                in.skipBytes(in.readableBytes());
            }
        } else if (in.readableBytes() - DubboHeader.BYTES >= length) {
            in.skipBytes(DubboHeader.BYTES);
            frame(flags, status, id, in.readRetainedSlice(length));
        }
    }

    private void skip(ByteBuf in) {
        int bytes = Math.min(toSkip, in.readableBytes());
        in.skipBytes(bytes);
        toSkip -= bytes;
        skipped += bytes;
        if (toSkip == 0) {
            skipEnded();
        }
    }
}
