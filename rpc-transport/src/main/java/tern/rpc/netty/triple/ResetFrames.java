package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2LocalFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Drops and counts the frames that the peer sends on streams that this side has reset. Netty drops these frames too,
 * but writes a line to the log for each of them and does not count them. Confined to the event loop.
 */
final class ResetFrames {

    /** Counts a frame that has no effect, and fails if the peer has sent too many. */
    interface Counter {
        void frameInVain() throws Http2Exception;
    }

    private final Http2Connection connection;
    private final boolean countsEnded;
    private final Counter counter;
    private @Nullable Http2FrameListener wrapped;
    private @Nullable Http2FrameListener wrapper;

    /**
     * @param countsEnded whether RST_STREAM and WINDOW_UPDATE on streams that have ended are counted too. Netty ignores
     *     these frames without an event. Clients send many of them in normal operation, but servers do not
     */
    ResetFrames(Http2Connection connection, boolean countsEnded, Counter counter) {
        this.connection = connection;
        this.countsEnded = countsEnded;
        this.counter = counter;
    }

    /**
     * Returns a listener that drops DATA and HEADERS frames on streams that this side has reset. It passes all other
     * frames to the given listener.
     */
    Http2FrameListener passingTo(Http2FrameListener listener) {
        Http2FrameListener known = wrapper;
        if (known == null || wrapped != listener) {
            known = new Dropping(listener);
            wrapped = listener;
            wrapper = known;
        }
        return known;
    }

    private final class Dropping extends Http2FrameListenerDecorator {

        Dropping(Http2FrameListener listener) {
            super(listener);
        }

        /** Returns whether the peer opened the stream after this side has sent GOAWAY. */
        private boolean isAfterGoAway(int streamId) {
            return connection.goAwaySent()
                    && connection.remote().isValidStreamId(streamId)
                    && streamId > connection.remote().lastStreamKnownByPeer();
        }

        private boolean isReset(@Nullable Http2Stream stream) {
            return stream != null && stream.isResetSent();
        }

        @Override
        public int onDataRead(ChannelHandlerContext read, int streamId, ByteBuf data, int padding, boolean end)
                throws Http2Exception {
            Http2Stream stream = connection.stream(streamId);
            if (stream == null && isAfterGoAway(streamId)) {
                // The frame is ignored here rather than by Netty, which would log a line for it.
                Objects.requireNonNull(connection.local().flowController())
                        .receiveFlowControlledFrame(null, data, padding, end);
                counter.frameInVain();
                return data.readableBytes() + padding;
            }
            if (!isReset(stream)) {
                return super.onDataRead(read, streamId, data, padding, end);
            }
            int bytes = data.readableBytes() + padding;
            Http2LocalFlowController flow =
                    Objects.requireNonNull(connection.local().flowController());
            flow.receiveFlowControlledFrame(stream, data, padding, end);
            flow.consumeBytes(stream, bytes);
            counter.frameInVain();
            return bytes;
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext read, int streamId, Http2Headers headers, int padding, boolean end)
                throws Http2Exception {
            if (isReset(connection.stream(streamId))) {
                counter.frameInVain();
            } else {
                super.onHeadersRead(read, streamId, headers, padding, end);
            }
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext read,
                int streamId,
                Http2Headers headers,
                int dependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean end)
                throws Http2Exception {
            if (isReset(connection.stream(streamId))) {
                counter.frameInVain();
            } else {
                super.onHeadersRead(read, streamId, headers, dependency, weight, exclusive, padding, end);
            }
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext read, int streamId, long error) throws Http2Exception {
            countIfEnded(streamId);
            super.onRstStreamRead(read, streamId, error);
        }

        @Override
        public void onWindowUpdateRead(ChannelHandlerContext read, int streamId, int increment) throws Http2Exception {
            countIfEnded(streamId);
            super.onWindowUpdateRead(read, streamId, increment);
        }

        private void countIfEnded(int streamId) throws Http2Exception {
            if (countsEnded && streamId > 0) {
                Http2Stream stream = connection.stream(streamId);
                boolean ended = stream == null ? connection.streamMayHaveExisted(streamId) : stream.isResetSent();
                if (ended) {
                    counter.frameInVain();
                }
            }
        }
    }
}
