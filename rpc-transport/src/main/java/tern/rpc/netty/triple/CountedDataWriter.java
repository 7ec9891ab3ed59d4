package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.Http2HeadersEncoder;

/**
 * A version of Netty's frame writer that also reports every DATA frame to the connection's {@link Http2Limits}. The
 * flow controller splits a large message into frames, so the writer is the only place where progress within a message
 * is visible. Confined to the event loop.
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
        limits.dataSent(data.readableBytes());
        return super.writeData(context, streamId, data, padding, endStream, promise);
    }
}
