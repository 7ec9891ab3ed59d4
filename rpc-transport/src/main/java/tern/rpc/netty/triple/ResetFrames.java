package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2LocalFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Drops and counts the frames that arrive on streams after this side has reset them. Netty drops these frames too, but
 * logs a line or creates an exception for each of them, and does not count them. Confined to the event loop.
 */
final class ResetFrames {

    /** Counts a frame that has no effect. Throws an exception if the peer has sent too many such frames. */
    interface Counter {
        /** @param bytes the number of bytes that flow control counts for the frame; 0 if the frame has no data */
        void frameInVain(int bytes) throws Http2Exception;
    }

    /**
     * The maximum number of stored stream ids. The stored ids belong to closed streams that this side has reset. Each
     * additional id replaces an earlier one. Frames on a stream whose id was replaced are passed on to Netty, which
     * drops them.
     */
    private static final int PLACES = 256;

    private final Http2Connection connection;
    private final boolean countsEnded;
    private final Counter counter;
    private @Nullable Http2FrameListener wrapped;
    private @Nullable Http2FrameListener wrapper;
    // the ids of closed streams that this side has reset; null before the first reset
    private int @Nullable [] closed;

    /**
     * @param countsEnded whether RST_STREAM and WINDOW_UPDATE on streams that have ended are counted too. Netty ignores
     *     these frames and does not report them to a listener. Clients send many of them in normal operation, but
     *     servers do not
     */
    ResetFrames(Http2Connection connection, boolean countsEnded, Counter counter) {
        this.connection = connection;
        this.countsEnded = countsEnded;
        this.counter = counter;
        connection.addListener(new Http2ConnectionAdapter() {
            @Override
            public void onStreamClosed(Http2Stream stream) {
                if (stream.isResetSent()) {
                    remember(stream.id());
                }
            }
        });
    }

    private void remember(int streamId) {
        int[] ids = closed;
        if (ids == null) {
            ids = new int[PLACES];
            closed = ids;
        }
        ids[place(streamId)] = streamId;
    }

    /**
     * Returns the index at which an id is stored. Consecutive ids of one peer differ by 2 and have different indexes.
     */
    private static int place(int streamId) {
        return (streamId >>> 1) & (PLACES - 1);
    }

    /**
     * Returns a listener that drops DATA and HEADERS frames on streams reset by this side, and passes all other frames
     * to the given listener.
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

        /** Returns whether the peer opened the stream after this side had sent GOAWAY. */
        private boolean isAfterGoAway(int streamId) {
            return connection.goAwaySent()
                    && connection.remote().isValidStreamId(streamId)
                    && streamId > connection.remote().lastStreamKnownByPeer();
        }

        /** @param stream the stream with the given id; null if it is closed or was never open */
        private boolean isReset(int streamId, @Nullable Http2Stream stream) {
            if (stream != null) {
                return stream.isResetSent();
            }
            int[] ids = closed;
            return ids != null && ids[place(streamId)] == streamId;
        }

        @Override
        public int onDataRead(ChannelHandlerContext read, int streamId, ByteBuf data, int padding, boolean end)
                throws Http2Exception {
            Http2Stream stream = connection.stream(streamId);
            if (stream == null && isAfterGoAway(streamId)) {
                // The frame is ignored here, because Netty would log a line for it.
                Objects.requireNonNull(connection.local().flowController())
                        .receiveFlowControlledFrame(null, data, padding, end);
                counter.frameInVain(0); // the frame counts as a frame without data, because its stream was never open
                return data.readableBytes() + padding;
            }
            if (!isReset(streamId, stream)) {
                return super.onDataRead(read, streamId, data, padding, end);
            }
            int bytes = data.readableBytes() + padding;
            Http2LocalFlowController flow =
                    Objects.requireNonNull(connection.local().flowController());
            flow.receiveFlowControlledFrame(stream, data, padding, end);
            // if there is no stream, the bytes have already been returned to the flow-control window
            if (stream != null) {
                flow.consumeBytes(stream, bytes);
            }
            counter.frameInVain(bytes);
            return bytes;
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext read, int streamId, Http2Headers headers, int padding, boolean end)
                throws Http2Exception {
            if (isReset(streamId, connection.stream(streamId))) {
                counter.frameInVain(0);
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
            if (isReset(streamId, connection.stream(streamId))) {
                counter.frameInVain(0);
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
                    counter.frameInVain(0);
                }
            }
        }
    }
}
