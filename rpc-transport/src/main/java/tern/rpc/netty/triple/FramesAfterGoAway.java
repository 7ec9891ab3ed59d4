package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2LocalFlowController;

/**
 * Ignores the frames of streams that the client opened after the final GOAWAY. The headers of these streams are refused
 * with RST_STREAM. Netty treats later frames of these streams as a connection error, which would end the running calls.
 * RFC 9113, 6.8 allows a server to ignore them. The ignored frames are counted, so that a flood of them ends the
 * connection. Confined to the event loop.
 */
final class FramesAfterGoAway {

    /**
     * The streams that the server refuses.
     *
     * @param lastStream the last stream that the GOAWAY frame accepts
     * @param flow the flow control of the connection, which also counts the bytes of ignored DATA frames
     * @param counter counts the ignored frames
     */
    record Refused(int lastStream, Http2LocalFlowController flow, ResetFrames.Counter counter) {}

    private final Refused refused;

    FramesAfterGoAway(Refused refused) {
        this.refused = refused;
    }

    /**
     * Returns a listener that drops the frames of refused streams, and passes all other frames to the given listener.
     */
    Http2FrameListener passingTo(Http2FrameListener listener) {
        return new Http2FrameListenerDecorator(listener) {

            @Override
            public int onDataRead(ChannelHandlerContext read, int stream, ByteBuf data, int padding, boolean end)
                    throws Http2Exception {
                if (stream <= refused.lastStream) {
                    return super.onDataRead(read, stream, data, padding, end);
                }
                // If null is passed as the stream, the flow control returns the bytes to the flow-control window of the
                // connection.
                refused.flow.receiveFlowControlledFrame(null, data, padding, end);
                ignored();
                return data.readableBytes() + padding;
            }

            @Override
            public void onRstStreamRead(ChannelHandlerContext read, int stream, long error) throws Http2Exception {
                if (stream <= refused.lastStream) {
                    super.onRstStreamRead(read, stream, error);
                } else {
                    ignored();
                }
            }

            @Override
            public void onWindowUpdateRead(ChannelHandlerContext read, int stream, int increment)
                    throws Http2Exception {
                if (stream <= refused.lastStream) {
                    super.onWindowUpdateRead(read, stream, increment);
                } else {
                    ignored();
                }
            }

            private void ignored() throws Http2Exception {
                refused.counter.frameInVain(0); // the stream was never open, so its bytes are not counted
            }
        };
    }
}
