package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.Http2HeadersEncoder;

/**
 * Netty's writer of frames, which tells the limits of the connection about DATA. The flow controller cuts a large message
 * into frames, so only the writer sees that the message moves before its end. Event loop only.
 */
final class CountedDataWriter extends DefaultHttp2FrameWriter {

    private final Http2Limits limits;

    CountedDataWriter(Http2HeadersEncoder headers, Http2Limits limits) {
        super(headers);
        this.limits = limits;
    }

    @Override
    public ChannelFuture writeData(
            ChannelHandlerContext context,
            int streamId,
            ByteBuf data,
            int padding,
            boolean endStream,
            ChannelPromise promise) {
        limits.dataSent(1 + data.readableBytes() / maxFrameSize());
        return super.writeData(context, streamId, data, padding, endStream, promise);
    }
}
