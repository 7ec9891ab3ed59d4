package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.ReadOnlyHttp2Headers;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AsciiString;
import io.netty.util.AttributeKey;
import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Deadline;
import tern.rpc.PeerText;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;

/**
 * Handles the client side of an HTTP/2 connection. Calls become streams, up to the number of concurrent streams that
 * the server permits. Further calls wait in order. Confined to the event loop.
 */
final class Http2ClientHandler extends Http2ConnectionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(Http2ClientHandler.class);

    /** The header list limit that docs/wire-protocol.md 3.1 specifies. */
    private static final int HEADER_LIST_BYTES = 32 << 10;

    /**
     * Maximum number of consecutive empty DATA frames. If the server sends more, the client closes the connection
     * (docs/limits.md).
     */
    private static final int EMPTY_DATA_FRAMES = 2;

    private static final int CONTINUATIONS = 16;

    /**
     * The connection is replaced when only this number of stream ids is left. Calls that are already queued use the
     * remaining ids.
     */
    private static final int LAST_IDS = 4_096;

    /**
     * Each stream that has ended permits this number of frames on ended streams within 30 seconds, because frames of
     * its answer may have been in flight. The limits for servers permit further frames ({@link Http2Limits}).
     */
    private static final int FRAMES_AFTER_END = 64;

    /**
     * A WINDOW_UPDATE frame with a smaller increment barely helps a waiting request. The client therefore counts it as
     * a control frame and limits the number of control frames.
     */
    private static final int SMALL_INCREMENT = 1 << 10;

    /**
     * If the server cancels a call and less than this time remains until the deadline, the client reports an exceeded
     * deadline, because the clocks of client and server may differ.
     */
    private static final long CLOCK_SKEW_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * The settings that the client sends. All connections share one immutable object, because Netty keeps a reference
     * to it for each connection.
     */
    private static final Http2Settings SETTINGS = new Http2Settings()
            .pushEnabled(false)
            .initialWindowSize(ReceiveWindows.STREAM_BYTES)
            .maxHeaderListSize(HEADER_LIST_BYTES);

    private static final AsciiString HTTP = AsciiString.cached("http");
    private static final AsciiString HTTPS = AsciiString.cached("https");

    private static final AttributeKey<Http2ClientHandler> OF_CHANNEL =
            AttributeKey.valueOf(Http2ClientHandler.class, "handler");

    private final Connection connection;
    private final AsciiString authority;
    private final JoinedWrites joined;
    private final PlainRequests plain;
    private final Http2Connection.PropertyKey callKey;
    private final Http2Limits limits = new Http2Limits();
    private final PingPace pings = new PingPace();
    // the calls, by the request id in their PendingCall
    private final LongObjectMap<ClientCall> calls = new LongObjectHashMap<>();
    private final Queue<OpenCall> waiting = new ArrayDeque<>();
    // the calls with messages that the next flush writes
    private final List<StreamCall> gathering = new ArrayList<>();
    private @Nullable ChannelHandlerContext context;
    private AsciiString scheme = HTTP;
    private boolean active;
    private boolean settingsRead; // false until the server has announced its maximum number of concurrent streams
    private boolean reading;
    private long unsentBytes;
    // created the first time that at least 4 MiB of received bytes are unread
    private @Nullable ReceiveWindows windows;

    private Http2ClientHandler(
            Http2ConnectionDecoder decoder,
            Http2ConnectionEncoder encoder,
            Http2Settings settings,
            Connection connection,
            HeaderTable table,
            TypedFrameReader frames) {
        super(decoder, encoder, settings, true, false);
        frames.dropFramesOf(new ResetFrames(connection(), true, this::frameInVain));
        this.joined = new JoinedWrites(connection.queue()::left);
        this.connection = connection;
        this.authority = new AsciiString(connection.endpoint().toString());
        this.plain = new PlainRequests(connection(), encoder, table, joined, authority);
        this.callKey = connection().newKey();
        connection().addListener(new Http2ConnectionAdapter() {
            @Override
            public void onStreamClosed(Http2Stream stream) {
                streamClosed(stream);
            }
        });
        decoder.frameListener(new Frames());
    }

    static Http2ClientHandler of(Connection connection) {
        return new Builder(connection).build();
    }

    /** Returns the handler of a channel that has been opened. The channel may already be closed again. */
    static Http2ClientHandler of(Channel channel) {
        return Objects.requireNonNull(channel.attr(OF_CHANNEL).get());
    }

    private static final class Builder extends AbstractHttp2ConnectionHandlerBuilder<Http2ClientHandler, Builder> {

        private final Connection connection;
        private final HeaderTable table = new HeaderTable();
        private @Nullable TypedFrameReader frames;

        Builder(Connection connection) {
            this.connection = connection;
        }

        /**
         * Returns false. Netty assumes that a handler with a custom codec is a server, and would close the connection
         * after 200 resets.
         */
        @Override
        protected boolean isServer() {
            return false;
        }

        @Override
        protected Http2ClientHandler build() {
            Http2Connection http2 = new DefaultHttp2Connection(false);
            http2.remote()
                    .flowController(
                            new DefaultHttp2RemoteFlowController(http2, new UniformStreamByteDistributor(http2)));
            Http2ConnectionEncoder encoder = new LimitedEncoder(http2, new DefaultHttp2FrameWriter(table));
            Http2HeadersDecoder headers =
                    new RememberedBlocks(Http2ClientHandler::newHeadersDecoder, HEADER_LIST_BYTES);
            // Netty's builder requires this call before codec()
            decoderEnforceMaxConsecutiveEmptyDataFrames(EMPTY_DATA_FRAMES);
            frames = new TypedFrameReader(headers, CONTINUATIONS);
            codec(new DefaultHttp2ConnectionDecoder(http2, encoder, frames), encoder);
            // Netty requires a listener; this one is replaced when the handler has been created
            frameListener(new Http2EventAdapter() {});
            initialSettings(SETTINGS);
            return super.build();
        }

        @Override
        protected Http2ClientHandler build(
                Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
            return new Http2ClientHandler(
                    decoder, encoder, settings, connection, table, Objects.requireNonNull(frames));
        }
    }

    /**
     * Creates a decoder that does not validate header values, because Dubbo's providers send strings without
     * percent-encoding.
     */
    private static Http2HeadersDecoder newHeadersDecoder() {
        return new DefaultHttp2HeadersDecoder(true, false, HEADER_LIST_BYTES);
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) throws Exception {
        context = added;
        added.channel().attr(OF_CHANNEL).set(this);
        if (added.pipeline().get(SslHandler.class) != null) {
            scheme = HTTPS;
        }
        added.pipeline().addBefore(added.name(), null, joined);
        super.handlerAdded(added);
    }

    @Override
    public void channelActive(ChannelHandlerContext opened) throws Exception {
        super.channelActive(opened); // The overridden method writes the connection preface and the settings.
        ReceiveWindows.open(connection(), decoder());
        active = true;
        openWaiting();
        flush(opened);
    }

    @Override
    public void channelInactive(ChannelHandlerContext closed) throws Exception {
        active = false;
        super.channelInactive(closed);
        List.copyOf(calls.values()).forEach(this::lost);
        for (OpenCall call = waiting.poll(); call != null; call = waiting.poll()) {
            drop(call);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext read, Object message) throws Exception {
        connection.heard();
        reading = true;
        super.channelRead(read, message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext read) throws Exception {
        reading = false;
        super.channelReadComplete(read);
    }

    @Override
    public void close(ChannelHandlerContext closing, ChannelPromise promise) throws Exception {
        if (active && !connection().goAwaySent()) {
            goAway(closing, 0, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER, closing.newPromise());
            closing.flush();
        }
        closing.close(promise);
    }

    /**
     * Ends a call whose connection has been lost. The call receives its answer if the answer is complete, and fails
     * otherwise.
     */
    private void lost(ClientCall call) {
        if (call.isOver() || !call.isAnswered()) {
            calls.remove(call.pending().id());
            call.close();
        }
    }

    // ---- Requests

    /** Opens a stream for a queued call. If no stream is free, the call waits. */
    void begin(OpenCall request) {
        ClientCall call = request.call();
        if (call.isOver()) {
            drop(request);
            return;
        }
        calls.put(call.pending().id(), call);
        if (waiting.isEmpty() && mayOpen()) {
            open(request);
        } else {
            waiting.add(request);
        }
    }

    private boolean mayOpen() {
        return settingsRead && active && connection().local().canOpenStream();
    }

    private void openWaiting() {
        boolean opened = false;
        while (!waiting.isEmpty() && mayOpen()) {
            OpenCall request = waiting.remove();
            if (request.call().isOver()) {
                drop(request);
            } else {
                open(request);
                opened = true;
            }
        }
        if (opened && !reading) {
            flush(context());
        }
    }

    private void open(OpenCall request) {
        ClientCall call = request.call();
        int id = connection().local().incrementAndGetNextStreamId();
        if (id < 0 || connection().goAwayReceived()) {
            passOn(request);
            return;
        }
        if (id > Integer.MAX_VALUE - 2 * LAST_IDS) {
            connection.drain();
        }
        byte[] message = request.message();
        if (message != null && call instanceof UnaryCall && plain.fits(request, message)) {
            openInOneGo(request, message, id);
            return;
        }
        Http2Headers headers = ReadOnlyHttp2Headers.clientHeaders(
                false, PlainRequests.POST, request.head().path(), scheme, authority, request.fields());
        ChannelPromise headersPromise =
                message == null ? request.promise() : context().newPromise();
        ChannelFuture written = encoder().writeHeaders(context(), id, headers, 0, false, headersPromise);
        Http2Stream stream = connection().stream(id);
        if (stream == null || written.cause() != null) {
            calls.remove(call.pending().id());
            request.promise().trySuccess();
            Throwable cause = written.cause();
            String reason = cause == null ? "its stream is closed" : String.valueOf(cause.getMessage());
            call.fail(StatusCode.RESOURCE_EXHAUSTED, "its headers cannot be sent: " + reason, Executed.NO);
            return;
        }
        limits.moved();
        call.pending().sent();
        stream.setProperty(callKey, call);
        if (message != null) {
            write(stream, message, true, request.promise());
        }
        if (call instanceof StreamCall streaming) {
            streaming.opened(this, stream);
        } else {
            call.opened(stream);
            if (call instanceof UnaryCall unary && call.pending().isOneWay()) {
                request.promise().addListener(done -> {
                    if (done.isSuccess()) {
                        unary.written();
                    }
                });
            }
        }
    }

    private void openInOneGo(OpenCall request, byte[] message, int id) {
        ClientCall call = request.call();
        Http2Stream stream;
        try {
            stream = plain.open(id, message.length);
        } catch (Http2Exception e) {
            drop(request);
            call.fail(StatusCode.RESOURCE_EXHAUSTED, "its stream cannot be opened: " + e.getMessage(), Executed.NO);
            return;
        }
        limits.moved();
        call.pending().sent();
        stream.setProperty(callKey, call);
        plain.write(stream, request, message, scheme);
        call.opened(stream);
    }

    /** Passes the call to another connection, because this connection accepts no further streams. */
    private void passOn(OpenCall request) {
        ClientCall call = request.call();
        drop(request);
        boolean passed = call instanceof UnaryCall unary
                && connection.passOn(call.pending(), other -> request.of(unary.on(other)));
        if (!passed) {
            call.fail(StatusCode.UNAVAILABLE, "the server takes no new calls on this connection", Executed.NO);
        }
    }

    /** Drops a request that is no longer needed. */
    private void drop(OpenCall request) {
        calls.remove(request.call().pending().id());
        request.call().close();
        request.promise().trySuccess();
    }

    /** Sends a message or the end of a stream. */
    void send(StreamCall call, Http2Stream stream, StreamCall.SendMessage sent) {
        byte[] message = sent.message();
        if (!stream.state().localSideOpen()) {
            call.gone(sent.bytes());
        } else if (message != null && !sent.end() && message.length <= GatheredMessages.MAX_BYTES) {
            gather(call, message, sent.bytes());
        } else {
            writeGathered(call);
            ChannelPromise promise = context().newPromise();
            promise.addListener(done -> call.gone(sent.bytes()));
            write(stream, message, sent.end(), promise);
        }
    }

    private void gather(StreamCall call, byte[] message, int counted) {
        GatheredMessages messages = call.gathered();
        if (!messages.hasRoomFor(message)) {
            writeGathered(call);
        }
        if (messages.isEmpty()) {
            gathering.add(call);
        }
        messages.add(message, counted);
    }

    private void writeGathered(StreamCall call) {
        GatheredMessages messages = call.gathered();
        Http2Stream stream = call.stream();
        if (messages.isEmpty() || stream == null) {
            return;
        }
        int counted = messages.countedBytes();
        if (!stream.state().localSideOpen()) {
            messages.clear();
            call.gone(counted);
            return;
        }
        unsentBytes += counted;
        messages.write(context(), encoder(), stream, joined).addListener(done -> {
            unsentBytes -= counted;
            limits.moved();
            call.gone(counted);
        });
    }

    @Override
    public void flush(ChannelHandlerContext flushed) {
        for (int i = 0; i < gathering.size(); i++) {
            writeGathered(gathering.get(i));
        }
        gathering.clear();
        super.flush(flushed);
    }

    private void write(Http2Stream stream, byte @Nullable [] message, boolean end, ChannelPromise promise) {
        ByteBuf data = message == null ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(message);
        int bytes = data.readableBytes();
        unsentBytes += bytes;
        promise.addListener(done -> {
            unsentBytes -= bytes;
            limits.moved();
        });
        encoder().writeData(context(), stream.id(), data, 0, end, promise);
    }

    /** Requests further answer messages from the call, and enlarges the flow-control windows accordingly. */
    void ask(ClientCall call, int messages) {
        Http2Stream stream = call.stream();
        int credit = call.ask(messages);
        if (call.isAnswered() && call.isOver()) {
            // The stream has already ended, so no event of the stream will remove the call later.
            calls.remove(call.pending().id());
            call.close(); // a later cancellation must have no effect on the call
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
        ClientCall call = calls.remove(pendingId);
        if (call == null) {
            return;
        }
        call.close();
        Http2Stream stream = call.stream();
        if (stream != null) {
            reset(stream);
        } else {
            waiting.removeIf(request -> {
                if (request.call() == call) {
                    request.promise().trySuccess();
                    return true;
                }
                return false;
            });
        }
    }

    private void reset(Http2Stream stream) {
        if (stream.state() != Http2Stream.State.CLOSED) {
            resetStream(
                    context(), stream.id(), Http2Error.CANCEL.code(), context().newPromise());
        }
    }

    void ping() {
        if (!active) {
            return;
        }
        long now = System.nanoTime();
        if (pings.take(now)) {
            encoder().writePing(context(), false, now, context().newPromise());
        } else {
            // another ping at this time would exceed the rate that servers permit, so the connection is assumed to be
            // alive
            connection.heard();
        }
    }

    // ---- Ends of streams

    private @Nullable ClientCall call(int streamId) {
        Http2Stream stream = connection().stream(streamId);
        return stream == null ? null : stream.getProperty(callKey);
    }

    private void streamClosed(Http2Stream stream) {
        limits.streamEnded(System.nanoTime());
        ClientCall call = stream.removeProperty(callKey);
        if (call != null && (call.isOver() || !call.isAnswered())) {
            calls.remove(call.pending().id());
            if (!call.isOver() && active) {
                failClosed(stream, call);
            }
            call.close();
        }
        if (active) {
            fitWindows();
            openWaiting();
        }
    }

    private void failClosed(Http2Stream stream, ClientCall call) {
        if (connection().goAwayReceived() && stream.id() > connection().local().lastStreamKnownByPeer()) {
            call.fail(StatusCode.UNAVAILABLE, "the server went away before it saw the call", Executed.NO);
        } else {
            call.fail(StatusCode.INTERNAL, "its stream was closed", Executed.MAYBE);
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
            return; // The frame was in flight when the stream ended. streamClosed() reports the end.
        }
        ClientCall call = call(error.streamId());
        // the answer is complete, so the server needs no further frames of the request
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
        // The exception of a socket that the server has closed may have no message.
        String what = PeerText.text(cause.getMessage() == null ? cause.toString() : cause.getMessage());
        LOG.warn("Closing the connection to {}: {}", connection.endpoint(), what);
        super.onConnectionError(failed, outbound, cause, error);
        connection.close("HTTP/2: " + what);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext failed, Throwable cause) throws Exception {
        if (cause instanceof IOException) {
            connection.close(cause.toString());
        } else {
            super.exceptionCaught(failed, cause);
        }
    }

    /** Receives the events of the HTTP/2 decoder. */
    private final class Frames extends Http2EventAdapter {

        @Override
        public void onSettingsRead(ChannelHandlerContext read, Http2Settings settings) throws Http2Exception {
            limits.controlFrame(System.nanoTime());
            if (settings.initialWindowSize() != null) {
                limits.streamsVisited(System.nanoTime(), connection().numActiveStreams());
            }
            settingsRead = true;
            openWaiting();
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
                boolean endOfStream)
                throws Http2Exception {
            onHeadersRead(read, streamId, headers, padding, endOfStream);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext read, int streamId, Http2Headers headers, int padding, boolean endOfStream)
                throws Http2Exception {
            if (!connection().local().isValidStreamId(streamId)) {
                throw Http2Exception.connectionError(
                        Http2Error.PROTOCOL_ERROR, "the server opened stream %d; only clients do", streamId);
            }
            ClientCall call = call(streamId);
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
            ClientCall call = call(streamId);
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
            } else if (call == null || (call.isOver() && !call.isAnswered())) {
                reset(stream); // the call has ended, so the rest of the answer is not needed
            }
        }

        private void moved() {
            limits.moved();
            pings.moved();
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext read, int streamId, long error) throws Http2Exception {
            Http2Stream stream = connection().stream(streamId);
            ClientCall call = stream.getProperty(callKey);
            stream.resetSent(); // a reset from the server must not be answered with a reset
            if (call == null || call.isOver() || call.isAnswered()) {
                return;
            }
            if (!stream.isHeadersReceived()) {
                limits.reset(System.nanoTime(), false);
            }
            StatusTable.Reset reset = StatusTable.fromHttp2Error(error);
            call.fail(
                    reset.code() == StatusCode.CANCELLED && isAtDeadline(call)
                            ? StatusCode.DEADLINE_EXCEEDED
                            : reset.code(),
                    "the server reset its stream, HTTP/2 error " + error,
                    reset.executed());
        }

        /**
         * Returns whether the deadline of the call has passed or will pass within the tolerated clock difference.
         * Servers also end calls at the deadline, and their clocks may be slightly ahead.
         */
        private boolean isAtDeadline(ClientCall call) {
            Deadline deadline = call.pending().call().deadline();
            return deadline.isLimited() && deadline.remainingNanos(System.nanoTime()) < CLOCK_SKEW_NANOS;
        }

        @Override
        public void onGoAwayRead(ChannelHandlerContext read, int lastStreamId, long error, ByteBuf text)
                throws Http2Exception {
            limits.controlFrame(System.nanoTime());
            limits.streamsVisited(System.nanoTime(), connection().numActiveStreams());
            if (error != Http2Error.NO_ERROR.code()) {
                LOG.warn(
                        "{} goes away with HTTP/2 error {}: {}",
                        connection.endpoint(),
                        error,
                        PeerText.name(text.toString(StandardCharsets.ISO_8859_1)));
            }
            // the connection is drained first, because unprocessed calls are retried immediately and must use another
            // connection
            connection.drain();
            for (OpenCall request = waiting.poll(); request != null; request = waiting.poll()) {
                passOn(request);
            }
        }

        @Override
        public void onSettingsAckRead(ChannelHandlerContext read) throws Http2Exception {
            limits.controlFrame(System.nanoTime());
            if (windows != null) {
                windows.acknowledged(read);
            }
        }

        @Override
        public void onPingAckRead(ChannelHandlerContext read, long data) throws Http2Exception {
            limits.controlFrame(System.nanoTime());
        }

        @Override
        public void onPingRead(ChannelHandlerContext read, long data) throws Http2Exception {
            limits.controlFrame(System.nanoTime());
        }

        @Override
        public void onUnknownFrame(
                ChannelHandlerContext read, byte type, int streamId, Http2Flags flags, ByteBuf payload)
                throws Http2Exception {
            limits.controlFrame(System.nanoTime());
        }

        @Override
        public void onPriorityRead(
                ChannelHandlerContext read, int streamId, int dependency, short weight, boolean exclusive)
                throws Http2Exception {
            limits.controlFrame(System.nanoTime());
        }

        @Override
        public void onWindowUpdateRead(ChannelHandlerContext read, int streamId, int increment) throws Http2Exception {
            // the frame is counted as a control frame if no request waits for the window or if the increment is too
            // small
            if (unsentBytes == 0 || increment < SMALL_INCREMENT) {
                limits.controlFrame(System.nanoTime());
            }
        }
    }
}
