package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;

/**
 * Decides how a server reacts to an invalid frame of one stream. Headers on an ended stream are a protocol violation,
 * unless the server reset the stream while the headers were in flight. All rules are in one method, because their order
 * matters. Confined to the event loop.
 */
final class StreamErrors {

    /** The server's reaction to an invalid frame. */
    enum Reaction {
        NONE,
        /** Resets the stream with the error of the frame. */
        RESET,
        /** Resets the stream with STREAM_CLOSED. */
        RESET_AS_CLOSED
    }

    private final Http2Connection http2;
    private final Http2Connection.PropertyKey exchangeKey;
    private final StreamHistory history;
    private final Http2Limits limits;
    private final TypedFrameReader frames;

    StreamErrors(
            Http2Connection http2,
            Http2Connection.PropertyKey exchangeKey,
            StreamHistory history,
            Http2Limits limits,
            TypedFrameReader frames) {
        this.http2 = http2;
        this.exchangeKey = exchangeKey;
        this.history = history;
        this.limits = limits;
        this.frames = frames;
    }

    /**
     * Returns the reaction to an error.
     *
     * @param outbound whether the error occurred while the server was writing
     * @throws Http2Exception if the connection must be closed
     */
    Reaction reactionTo(Http2Exception.StreamException error, boolean outbound) throws Http2Exception {
        int streamId = error.streamId();
        boolean idle = !outbound && streamId > http2.remote().lastStreamCreated();
        if (idle && (error.error() == Http2Error.FRAME_SIZE_ERROR || frames.readsWindowUpdate())) {
            // RFC 9113, 5.1 forbids RST_STREAM on an idle stream
            throw Http2Exception.connectionError(error.error(), String.valueOf(error.getMessage()));
        }
        if (idle && !(error instanceof Http2Exception.HeaderListSizeException)) {
            create(streamId);
        }
        Http2Stream stream = http2.stream(streamId);
        if (outbound && stream != null && stream.state() == Http2Stream.State.CLOSED) {
            // the client's reset has cancelled a waiting write, and the server must not answer a reset with a reset
            return Reaction.NONE;
        }
        if (!outbound && stream == null && history.wasResetByUs(streamId)) {
            // Netty has already returned the frame's bytes to the flow-control window of the connection
            limits.frameInVain(System.nanoTime());
            return Reaction.NONE;
        }
        if (!outbound && stream != null) {
            // the server sends this reset because of the client's error, so the reset counts towards the client's limit
            limits.reset(System.nanoTime(), false);
        }
        if (!outbound
                && stream != null
                && stream.state() == Http2Stream.State.HALF_CLOSED_REMOTE
                && stream.getProperty(exchangeKey) != null
                && error.error() == Http2Error.PROTOCOL_ERROR
                && !frames.readsWindowUpdate()) {
            // the headers arrived after the end of the stream, so they are treated like valid headers
            return Reaction.RESET_AS_CLOSED;
        }
        if (!outbound && error.error() == Http2Error.STREAM_CLOSED && stream == null && frames.readsHeaders()) {
            checkLateHeaders(streamId);
        }
        if (stream != null) {
            history.resetByUs(streamId);
        }
        return Reaction.RESET;
    }

    /**
     * Creates the stream even if its headers are malformed. If the stream were not created, Netty would close the
     * connection at the next frame of the request, which might already be in flight.
     */
    private void create(int streamId) throws Http2Exception {
        try {
            http2.remote().createStream(streamId, false);
        } catch (Http2Exception notAllowed) {
            if (!Http2Exception.isStreamError(notAllowed)) { // the stream id is invalid because it is even
                throw notAllowed;
            }
        }
    }

    private void checkLateHeaders(int streamId) throws Http2Exception {
        if (history.wasNeverOpened(streamId)) {
            throw Http2Exception.connectionError(
                    Http2Error.PROTOCOL_ERROR, "stream " + streamId + " was skipped when a newer stream was opened");
        }
        if (history.endedInOrder(streamId)) {
            throw Http2Exception.connectionError(
                    Http2Error.STREAM_CLOSED, "stream " + streamId + " had ended when headers arrived on it");
        }
    }
}
