package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AttributeKey;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.PeerText;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;
import tern.rpc.netty.ServerFaults;

/**
 * Handles the client side of an HTTP/2 connection: the events of its channel and the frames of its server. Confined to
 * the event loop.
 */
final class Http2ClientHandler extends Http2ConnectionHandler {

    /**
     * The number of late frames that the client accepts for each stream that has ended, because frames of the answer
     * can still be in flight when the stream ends. Another {@link Http2Limits#MAX_FRAMES_IN_VAIN} frames are accepted
     * within 30 seconds, for all streams together.
     */
    private static final int FRAMES_AFTER_END = 64;

    /**
     * The smallest increment of a WINDOW_UPDATE frame that counts as progress of a waiting request. A frame with a
     * smaller increment counts as a control frame, and the number of control frames is limited.
     */
    private static final int SMALL_INCREMENT = 1 << 10;

    /**
     * The clock difference that the client tolerates. If a server cancels a call less than this time before the
     * deadline, the client reports an exceeded deadline. The server's clock is probably ahead, so the deadline has
     * already passed on the server.
     */
    private static final long CLOCK_SKEW_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private static final Http2Settings NO_SETTINGS = new Http2Settings();

    private static final AttributeKey<Http2ClientHandler> OF_CHANNEL =
            AttributeKey.valueOf(Http2ClientHandler.class, "handler");

    private final Connection connection;
    private final JoinedWrites joined;
    private final RequestMessages requests;
    private final RequestStreams streams;
    private final Http2Limits limits = new Http2Limits();
    private final PingPace pings = new PingPace();
    private final TypedFrameReader frames;
    private @Nullable ChannelHandlerContext context;
    private boolean reading;
    // the adjusted flow-control windows; null until at least 4 MiB of received bytes are unread
    private @Nullable ReceiveWindows windows;

    Http2ClientHandler(
            Http2ConnectionDecoder decoder,
            Http2ConnectionEncoder encoder,
            Http2Settings settings,
            Connection connection,
            HeaderTable table,
            TypedFrameReader frames) {
        super(decoder, encoder, settings, true, false);
        frames.dropFramesOf(new ResetFrames(
                connection(), true, bytes -> limits.inVain(System.nanoTime(), bytes, FRAMES_AFTER_END)));
        this.frames = frames;
        this.joined = new JoinedWrites(connection.queue()::left);
        this.connection = connection;
        this.requests = new RequestMessages(encoder, joined, limits);
        this.streams = new RequestStreams(connection, encoder, table, joined, requests, limits);
        connection().addListener(new Http2ConnectionAdapter() {
            @Override
            public void onStreamClosed(Http2Stream stream) {
                streamClosed(stream);
            }
        });
        decoder.frameListener(new Frames());
    }

    /** Returns the handler of a channel that has been opened. The channel might already have been closed. */
    static Http2ClientHandler of(Channel channel) {
        return Objects.requireNonNull(channel.attr(OF_CHANNEL).get());
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) throws Exception {
        context = added;
        added.channel().attr(OF_CHANNEL).set(this);
        requests.added(added);
        streams.added(added);
        added.pipeline().addBefore(added.name(), null, joined);
        super.handlerAdded(added);
    }

    @Override
    public void channelActive(ChannelHandlerContext opened) throws Exception {
        super.channelActive(opened); // The overridden method writes the connection preface and the settings.
        ReceiveWindows.open(connection(), decoder());
        streams.connected();
        openWaiting();
        flush(opened);
    }

    @Override
    public void channelInactive(ChannelHandlerContext closed) throws Exception {
        streams.disconnected();
        super.channelInactive(closed);
        streams.loseAll();
    }

    @Override
    public void channelRead(ChannelHandlerContext read, Object message) throws Exception {
        connection.heard();
        reading = true;
        int bytes = ((ByteBuf) message).readableBytes();
        int completed = frames.completed();
        super.channelRead(read, message);
        connection.progressed(bytes, frames.completed() != completed);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext read) throws Exception {
        reading = false;
        super.channelReadComplete(read);
    }

    @Override
    public void close(ChannelHandlerContext closing, ChannelPromise promise) throws Exception {
        if (streams.isActive() && !connection().goAwaySent()) {
            goAway(closing, 0, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER, closing.newPromise());
            closing.flush();
        }
        closing.close(promise);
    }

    // ---- Request output

    /** Returns the calls on this connection and their streams. */
    RequestStreams streams() {
        return streams;
    }

    private void openWaiting() {
        if (streams.openWaiting() && !reading) {
            flush(context());
        }
    }

    @Override
    public void flush(ChannelHandlerContext flushed) {
        requests.writeGathered();
        super.flush(flushed);
    }

    /** Requests more answer messages from the call, and enlarges the flow-control windows accordingly. */
    void ask(ClientCall call, int messages) {
        Http2Stream stream = call.stream();
        int credit = call.ask(messages);
        if (call.isAnswered() && call.isOver()) {
            // The stream has ended, so no later event of the stream would remove the call.
            streams.end(call);
        }
        if (stream != null && credit > 0) {
            try {
                decoder().flowController().consumeBytes(stream, credit);
            } catch (Http2Exception e) {
                onError(context(), false, e);
            }
            fitWindows();
        }
    }

    /** Adjusts the flow-control windows, so that unread messages of one stream do not block other streams. */
    private void fitWindows() {
        windows = ReceiveWindows.fit(windows, this, context());
    }

    /**
     * Called when the caller no longer waits for the answer. Resets the call's stream, or removes the call from the
     * waiting calls.
     */
    void cancel(long pendingId) {
        Http2Stream stream = streams.cancel(pendingId);
        if (stream != null) {
            reset(stream);
        }
    }

    private void reset(Http2Stream stream) {
        if (stream.state() != Http2Stream.State.CLOSED) {
            resetStream(
                    context(), stream.id(), Http2Error.CANCEL.code(), context().newPromise());
        }
    }

    /** Sends a PING or SETTINGS frame, which a live server must acknowledge. */
    void ping() {
        if (!streams.isActive()) {
            return;
        }
        if (pings.take()) {
            encoder().writePing(context(), false, System.nanoTime(), context().newPromise());
        } else {
            // A SETTINGS frame replaces a PING. Servers must acknowledge both (RFC 9113, section 6.5.3), and gRPC
            // servers do not count SETTINGS frames as pings.
            encoder().writeSettings(context(), NO_SETTINGS, context().newPromise());
        }
    }

    // ---- Stream ends

    private void streamClosed(Http2Stream stream) {
        limits.streamEnded(System.nanoTime());
        streams.closed(stream);
        if (streams.isActive()) {
            fitWindows();
            openWaiting();
        }
    }

    /** Resets the stream after the answer is complete, because the server does not need the rest of the request. */
    private void answered(Http2Stream stream) {
        if (stream.state().localSideOpen()) {
            reset(stream);
        }
    }

    @Override
    protected void onStreamError(
            ChannelHandlerContext failed, boolean outbound, Throwable cause, Http2Exception.StreamException error) {
        if (error.error() == Http2Error.STREAM_CLOSED && (outbound || connection().stream(error.streamId()) == null)) {
            if (!outbound) {
                countInVain(failed);
            }
            // The frame was in flight when the stream ended. streamClosed() has handled the end of the stream.
            return;
        }
        ClientCall call = streams.call(error.streamId());
        // the answer is complete, so the call does not fail if a frame of its request cannot be sent
        boolean isLateRequest = outbound && call != null && call.isAnswered();
        if (call != null && !call.isOver() && !isLateRequest) {
            boolean headers = error instanceof Http2Exception.HeaderListSizeException;
            call.fail(
                    headers ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INTERNAL,
                    "its answer breaks the rules of HTTP/2: " + cause.getMessage(),
                    Executed.YES);
        }
        super.onStreamError(failed, outbound, cause, error);
    }

    private void frameInVain() throws Http2Exception {
        limits.frameInVain(System.nanoTime(), FRAMES_AFTER_END);
    }

    private void countInVain(ChannelHandlerContext failed) {
        try {
            frameInVain();
        } catch (Http2Exception tooMany) {
            onConnectionError(failed, false, tooMany, tooMany);
        }
    }

    @Override
    protected void onConnectionError(
            ChannelHandlerContext failed, boolean outbound, Throwable cause, @Nullable Http2Exception error) {
        // The exception for a socket that the server has closed might have no message.
        String what = PeerText.text(cause.getMessage() == null ? cause.toString() : cause.getMessage());
        if (failed.channel().isActive()) { // failed writes on a closed connection are not logged
            ServerFaults.closing(connection.endpoint(), what, null);
        }
        super.onConnectionError(failed, outbound, cause, error);
        connection.close("HTTP/2: " + what);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext failed, Throwable cause) throws Exception {
        if (Http2CodecUtil.getEmbeddedHttp2Exception(cause) != null) {
            super.exceptionCaught(failed, cause);
        } else {
            connection.close(cause.toString());
        }
    }

    /** Receives the events of the HTTP/2 decoder. */
    private final class Frames extends ControlFrameListener {

        Frames() {
            super(limits, connection());
        }

        @Override
        public void onSettingsRead(ChannelHandlerContext read, Http2Settings settings) throws Http2Exception {
            super.onSettingsRead(read, settings);
            streams.settingsRead();
            openWaiting();
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext read, int streamId, Http2Headers headers, int padding, boolean endOfStream)
                throws Http2Exception {
            if (!connection().local().isValidStreamId(streamId)) {
                throw Http2Exception.connectionError(
                        Http2Error.PROTOCOL_ERROR, "the server opened stream %d; only clients do", streamId);
            }
            ClientCall call = streams.call(streamId);
            CharSequence status = headers.status();
            if (call == null || call.isOver()) {
                frameInVain();
            } else if (status != null && status.length() == 3 && status.charAt(0) == '1') {
                limits.controlFrame(System.nanoTime());
                call.interimRead();
            } else {
                moved();
                limits.arrived(true);
                call.headersRead(headers, endOfStream);
            }
            end(call, connection().stream(streamId), endOfStream);
        }

        @Override
        public int onDataRead(ChannelHandlerContext read, int streamId, ByteBuf data, int padding, boolean endOfStream)
                throws Http2Exception {
            ClientCall call = streams.call(streamId);
            int bytes = data.readableBytes();
            if (call == null || call.isOver()) {
                frameInVain();
            } else {
                limits.arrived(bytes > 0 || endOfStream);
                limits.answered(bytes);
                moved();
            }
            int credit = call == null ? bytes : call.dataRead(data, endOfStream);
            end(call, connection().stream(streamId), endOfStream);
            if (credit < bytes) {
                fitWindows();
            }
            return credit + padding;
        }

        private void end(@Nullable ClientCall call, Http2Stream stream, boolean endOfStream) {
            if (endOfStream) {
                answered(stream);
            } else if (call == null || (call.isOver() && !call.isAnswered() && !call.isUnheard())) {
                reset(stream); // the call has ended, so nobody needs the rest of the answer
            }
        }

        private void moved() {
            limits.moved();
            pings.moved();
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext read, int streamId, long error) throws Http2Exception {
            Http2Stream stream = connection().stream(streamId);
            ClientCall call = streams.call(stream);
            stream.resetSent(); // a reset from the server must not be answered with a reset
            if (call == null || call.isOver() || call.isAnswered()) {
                return;
            }
            // The number of resets is not limited. Each reset ends only a stream that this client has opened, but
            // closing the connection would end all of its calls.
            StatusTable.Reset reset = StatusTable.fromHttp2Error(error);
            call.fail(
                    reset.code() == StatusCode.CANCELLED && isAtDeadline(call)
                            ? StatusCode.DEADLINE_EXCEEDED
                            : reset.code(),
                    "the server reset its stream, HTTP/2 error " + error,
                    // a server that has begun to answer has run the call, even if the reset states that the server
                    // refused the stream
                    stream.isHeadersReceived() ? Executed.MAYBE : reset.executed());
        }

        /**
         * Returns whether the call's deadline has passed or will pass within the tolerated clock difference. Servers
         * also end calls at the deadline, and a server's clock might be slightly ahead.
         */
        private boolean isAtDeadline(ClientCall call) {
            Deadline deadline = call.pending().call().deadline();
            return deadline.isLimited() && deadline.remainingNanos(System.nanoTime()) < CLOCK_SKEW_NANOS;
        }

        @Override
        public void onGoAwayRead(ChannelHandlerContext read, int lastStreamId, long error, ByteBuf text)
                throws Http2Exception {
            super.onGoAwayRead(read, lastStreamId, error, text);
            if (error != Http2Error.NO_ERROR.code()) {
                ServerFaults.goesAway(connection.endpoint(), error, text);
            }
            // the connection is drained first, because unprocessed calls are retried immediately and must use another
            // connection
            connection.drain();
            streams.goAway(error == Http2Error.NO_ERROR.code());
        }

        @Override
        public void onSettingsAckRead(ChannelHandlerContext read) throws Http2Exception {
            super.onSettingsAckRead(read);
            if (windows != null) {
                windows.acknowledged(read);
            }
        }

        @Override
        public void onPingAckRead(ChannelHandlerContext read, long data) throws Http2Exception {
            super.onPingAckRead(read, data);
            pings.acknowledged();
        }

        @Override
        public void onWindowUpdateRead(ChannelHandlerContext read, int streamId, int increment) throws Http2Exception {
            // the frame is counted as a control frame if no request waits for the flow-control window or if the
            // increment is too small
            if (!requests.areUnsent() || increment < SMALL_INCREMENT) {
                limits.controlFrame(System.nanoTime());
            }
        }
    }
}
