package tern.rpc.netty.triple;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2LocalFlowController;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * The flow-control windows for the data that one connection receives (RFC 9113, 5.2). A message that the application
 * has not requested yet occupies the window of its stream and the window of the connection. If no window were adjusted,
 * the unread messages of one stream could fill the window of the connection and block all other streams.
 *
 * <p>When unread bytes fill half of the connection's window, streams get small windows. When the peer has acknowledged
 * the small windows, the window of the connection is enlarged. Both changes are undone when the unread bytes have been
 * read. The number of unread bytes on a connection therefore stays limited. Up to {@link #CONNECTION_BYTES} can arrive
 * before the acknowledgement. Afterwards, each additional stream adds at most its small window, up to
 * {@link #MAX_CONNECTION_BYTES} in total.
 *
 * <p>Confined to the event loop.
 */
final class ReceiveWindows {

    /** The initial flow-control window of a stream (docs/wire-protocol.md 3.1). */
    static final int STREAM_BYTES = 1 << 20;

    /** The initial flow-control window of a connection (docs/wire-protocol.md 3.1). */
    static final int CONNECTION_BYTES = 8 << 20;

    /** The maximum flow-control window of a connection. */
    static final int MAX_CONNECTION_BYTES = 64 << 20;

    private static final int SMALL_STREAM_BYTES = 64 << 10;
    private static final int MIN_STREAM_BYTES = 16 << 10;

    /** If at least {@value} bytes are unread, the flow-control window of a stream is at most 64 KiB. */
    private static final int MANY_UNREAD_BYTES = CONNECTION_BYTES / 2;

    /** If at least {@value} bytes are unread, the flow-control window of a stream is 16 KiB. */
    private static final int MAX_UNREAD_BYTES = 2 * CONNECTION_BYTES;

    /** The number of unread bytes below which the flow-control windows of streams return to their initial size. */
    private static final int FEW_UNREAD_BYTES = CONNECTION_BYTES / 8;

    /** The peer gets a WINDOW_UPDATE frame when at most {@value} of the flow-control window remains. */
    private static final float UPDATE_RATIO = 0.5f;

    /**
     * Replaces {@link #UPDATE_RATIO} while the connection's flow-control window is enlarged. The WINDOW_UPDATE frame is
     * then sent when a sixteenth of the window has been consumed. Unread bytes occupy most of an enlarged window, so
     * with a fraction of one half the frame would never be sent and all streams would stop.
     */
    private static final float UPDATE_RATIO_OF_GROWN = 15f / 16;

    private final Http2Connection connection;
    private final Http2ConnectionEncoder encoder;
    private final DefaultHttp2LocalFlowController flow;
    private int streamBytes = STREAM_BYTES;
    private int connectionBytes = CONNECTION_BYTES;
    private boolean acknowledged = true;

    private ReceiveWindows(Http2Connection connection, Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder) {
        this.connection = connection;
        this.encoder = encoder;
        this.flow = (DefaultHttp2LocalFlowController) decoder.flowController();
    }

    /** Enlarges the connection's flow-control window from the initial size of RFC 9113 to {@link #CONNECTION_BYTES}. */
    static void open(Http2Connection connection, Http2ConnectionDecoder decoder) throws Http2Exception {
        decoder.flowController()
                .incrementWindowSize(
                        connection.connectionStream(), CONNECTION_BYTES - Http2CodecUtil.DEFAULT_WINDOW_SIZE);
    }

    /**
     * Adjusts the flow-control windows to the current number of unread bytes. Called when this number has changed.
     * Writes frames but does not flush them.
     *
     * @param current the windows; null if there have never been many unread bytes
     * @return the windows to use from this point on
     */
    static @Nullable ReceiveWindows fit(
            @Nullable ReceiveWindows current, Http2ConnectionHandler handler, ChannelHandlerContext context) {
        ReceiveWindows windows = current;
        try {
            if (windows == null && areNeeded(handler)) {
                windows = new ReceiveWindows(handler.connection(), handler.decoder(), handler.encoder());
            }
            if (windows != null) {
                windows.fit(context);
            }
        } catch (Http2Exception e) {
            handler.onError(context, false, e);
        }
        return windows;
    }

    private static boolean areNeeded(Http2ConnectionHandler handler) {
        return handler.decoder()
                        .flowController()
                        .unconsumedBytes(handler.connection().connectionStream())
                >= MANY_UNREAD_BYTES;
    }

    private void fit(ChannelHandlerContext context) throws Http2Exception {
        if (!acknowledged) {
            return;
        }
        int unread = flow.unconsumedBytes(connection.connectionStream());
        int wanted = wantedStreamBytes(unread);
        if (wanted != streamBytes) {
            announce(context, wanted);
        } else if (streamBytes == STREAM_BYTES) {
            resize(CONNECTION_BYTES);
        } else if (unread > connectionBytes - MANY_UNREAD_BYTES && connectionBytes < MAX_CONNECTION_BYTES) {
            resize(2 * connectionBytes);
        }
    }

    private int wantedStreamBytes(int unread) {
        if (unread >= MAX_UNREAD_BYTES) {
            return MIN_STREAM_BYTES;
        }
        if (unread >= MANY_UNREAD_BYTES) {
            return Math.min(streamBytes, SMALL_STREAM_BYTES);
        }
        return unread < FEW_UNREAD_BYTES ? STREAM_BYTES : streamBytes;
    }

    private void announce(ChannelHandlerContext context, int bytes) {
        streamBytes = bytes;
        acknowledged = false;
        encoder.writeSettings(context, new Http2Settings().initialWindowSize(bytes), context.newPromise());
    }

    /** Called when the peer has acknowledged settings and the codec has applied them. */
    void acknowledged(ChannelHandlerContext context) throws Http2Exception {
        if (acknowledged) {
            return; // no change of the streams' flow-control windows is waiting for an acknowledgement
        }
        // The field "acknowledged" remains false if the peer has acknowledged only earlier settings with a different
        // initial flow-control window.
        acknowledged = flow.initialWindowSize() == streamBytes;
        connection.forEachActiveStream(this::giveCredit);
        fit(context);
    }

    /**
     * Sends a WINDOW_UPDATE frame for a stream if one is due. A smaller flow-control window can make a frame due,
     * because the bytes consumed since the last update are then a larger part of the window.
     */
    private boolean giveCredit(Http2Stream stream) throws Http2Exception {
        flow.incrementWindowSize(stream, 0);
        return true;
    }

    private void resize(int bytes) throws Http2Exception {
        if (bytes != connectionBytes) {
            flow.windowUpdateRatio(
                    connection.connectionStream(), bytes == CONNECTION_BYTES ? UPDATE_RATIO : UPDATE_RATIO_OF_GROWN);
            flow.incrementWindowSize(connection.connectionStream(), bytes - connectionBytes);
            connectionBytes = bytes;
        }
    }
}
