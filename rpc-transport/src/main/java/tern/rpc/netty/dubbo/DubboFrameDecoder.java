package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;

/**
 * Splits the stream into frames without decoding the bodies. The buffer grows with the received bytes, not with the
 * length in a header.
 */
abstract class DubboFrameDecoder extends ByteToMessageDecoder {

    private final int maxBodyBytes;
    private int toSkip;

    DubboFrameDecoder(int maxBodyBytes) {
        this.maxBodyBytes = maxBodyBytes;
        setCumulator(LinkedReads.INSTANCE);
    }

    /** @param body owned by the callee */
    abstract void frame(int flags, int status, long id, ByteBuf body);

    /**
     * Called when a header announces more bytes than allowed.
     *
     * @return whether to continue after that body; false if the connection is being closed
     */
    abstract boolean tooLarge(int flags, long id, int length);

    /** Called when the bytes are not valid frames. The connection must be closed. */
    abstract void broken(String how);

    /**
     * Does not request more bytes. The base class would request them after each read without a complete frame, although
     * reading was stopped on purpose.
     */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        discardSomeReadBytes();
        context.fireChannelReadComplete();
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (toSkip > 0) {
            int skipped = Math.min(toSkip, in.readableBytes());
            in.skipBytes(skipped);
            toSkip -= skipped;
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
            } else {
                in.skipBytes(in.readableBytes());
            }
        } else if (in.readableBytes() - DubboHeader.BYTES >= length) {
            in.skipBytes(DubboHeader.BYTES);
            frame(flags, status, id, in.readRetainedSlice(length));
        }
    }
}
