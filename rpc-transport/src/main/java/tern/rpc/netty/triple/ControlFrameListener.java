package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;

/**
 * Counts the control frames that the peer of an HTTP/2 connection sends, so that a flood of them ends the connection
 * ({@link Http2Limits}). Both sides count these frames in the same way. Confined to the event loop.
 */
abstract class ControlFrameListener extends Http2EventAdapter {

    private final Http2Limits limits;
    private final Http2Connection connection;

    ControlFrameListener(Http2Limits limits, Http2Connection connection) {
        this.limits = limits;
        this.connection = connection;
    }

    /** Ignores the priority, because all streams have the same priority. */
    @Override
    public final void onHeadersRead(
            ChannelHandlerContext read,
            int streamId,
            Http2Headers headers,
            int dependency,
            short weight,
            boolean exclusive,
            int padding,
            boolean endOfStream)
            throws Http2Exception {
        onHeadersRead(read, streamId, headers, padding, endOfStream);
    }

    @Override
    public void onSettingsRead(ChannelHandlerContext read, Http2Settings settings) throws Http2Exception {
        limits.controlFrame(System.nanoTime());
        if (settings.initialWindowSize() != null) {
            limits.streamsVisited(System.nanoTime(), connection.numActiveStreams());
        }
    }

    @Override
    public void onSettingsAckRead(ChannelHandlerContext read) throws Http2Exception {
        limits.controlFrame(System.nanoTime());
    }

    @Override
    public void onPingRead(ChannelHandlerContext read, long data) throws Http2Exception {
        limits.controlFrame(System.nanoTime());
    }

    @Override
    public void onPingAckRead(ChannelHandlerContext read, long data) throws Http2Exception {
        limits.controlFrame(System.nanoTime());
    }

    @Override
    public void onGoAwayRead(ChannelHandlerContext read, int lastStreamId, long error, ByteBuf text)
            throws Http2Exception {
        limits.controlFrame(System.nanoTime());
        limits.streamsVisited(System.nanoTime(), connection.numActiveStreams());
    }

    @Override
    public final void onPriorityRead(
            ChannelHandlerContext read, int streamId, int dependency, short weight, boolean exclusive)
            throws Http2Exception {
        limits.controlFrame(System.nanoTime());
    }

    @Override
    public final void onUnknownFrame(
            ChannelHandlerContext read, byte type, int streamId, Http2Flags flags, ByteBuf payload)
            throws Http2Exception {
        limits.controlFrame(System.nanoTime());
    }
}
