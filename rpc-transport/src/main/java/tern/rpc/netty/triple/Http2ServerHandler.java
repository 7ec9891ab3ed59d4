package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.limit.Refusal;
import tern.rpc.netty.FewBytes;
import tern.rpc.netty.IncompleteInput;
import tern.rpc.netty.ServerConnection;

/**
 * Handles the server side of an HTTP/2 connection. Each stream becomes an {@link Http2Exchange}. All methods except
 * {@link #execute} must run on the event loop.
 */
final class Http2ServerHandler extends Http2ConnectionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(Http2ServerHandler.class);

    private static final int MAX_FIELDS = 128;

    private final ServerConnection connection;
    private final HttpRequests requests;
    private final Http2Connection.PropertyKey exchangeKey;
    private final Http2Limits limits;
    private final RememberedBlocks blocks;
    private final TypedFrameReader frames;
    private final StreamErrors errors;
    private final StreamHistory history = new StreamHistory();
    private final AnswerOutput output;
    private final EarlyAnswers early;
    // counts the bytes of an incomplete frame or header block; null until a read has ended within one
    private @Nullable IncompleteInput incomplete;
    private int completed; // the number of complete frames when a frame was last found to be incomplete
    private boolean settingsKnown; // true if the client has acknowledged the server's settings
    private @Nullable ChannelHandlerContext context;
    // ends the connection; null until the server asks the client to open no more streams
    private @Nullable ConnectionDrain drain;

    // the adjusted flow-control windows; null until at least 4 MiB of received bytes are unread
    private @Nullable ReceiveWindows windows;

    Http2ServerHandler(
            Http2ConnectionDecoder decoder,
            Http2ConnectionEncoder encoder,
            Http2Settings settings,
            Http2Limits limits,
            RememberedBlocks blocks,
            TypedFrameReader frames,
            ServerConnection connection,
            HttpRequests requests) {
        super(decoder, encoder, settings);
        this.limits = limits;
        this.blocks = blocks;
        this.frames = frames;
        this.connection = connection;
        this.requests = requests;
        AnswerAccount answers =
                new AnswerAccount(connection, limits, how -> fail(context(), Http2Error.ENHANCE_YOUR_CALM, how));
        this.output = new AnswerOutput(connection, encoder, answers);
        this.early = new EarlyAnswers(connection(), stream -> resetByUs(stream, Http2Error.NO_ERROR), NanoClock.SYSTEM);
        this.exchangeKey = connection().newKey();
        this.errors = new StreamErrors(connection(), exchangeKey, history, limits, frames);
        // Netty is not given a limit for concurrent streams, because refuse() enforces the limit
        connection().remote().maxActiveStreams(Integer.MAX_VALUE);
        frames.dropFramesOf(new ResetFrames(connection(), false, this::countInVain));
        Frames listener = new Frames();
        connection().addListener(listener);
        decoder.frameListener(listener);
        gracefulShutdownTimeoutMillis(0);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) throws Exception {
        context = added;
        output.added(added);
        super.handlerAdded(added);
        ReceiveWindows.open(connection(), decoder());
    }

    /**
     * Continues after an upgrade from HTTP/1.1. The upgraded request becomes the first stream.
     *
     * @param body the body of the request; this method releases it
     */
    void upgraded(Http2Settings settings, Http2Headers head, ByteBuf body) throws Http2Exception {
        HttpExchange.Call call;
        try {
            call = begin(settings, head);
        } catch (Throwable e) {
            body.release();
            throw e;
        }
        if (call != null && body.isReadable()) {
            call.data(body);
        } else {
            body.release();
        }
        if (call != null) {
            call.end();
        }
    }

    private HttpExchange.@Nullable Call begin(Http2Settings settings, Http2Headers head) throws Http2Exception {
        onHttpServerUpgrade(settings);
        output.accept(settings);
        Http2Stream stream = connection().stream(Http2CodecUtil.HTTP_UPGRADE_STREAM_ID);
        Http2Exchange exchange = new Http2Exchange(connection, head, this, stream);
        stream.setProperty(exchangeKey, exchange);
        requests.begin(exchange, false, null);
        return exchange.call();
    }

    private void countInVain(int bytes) throws Http2Exception {
        limits.inVain(System.nanoTime(), bytes, 0);
    }

    ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    /**
     * Runs a task on the event loop: immediately if the calling thread is the event loop, otherwise later. Flushes the
     * output of the task.
     */
    void execute(Runnable task) {
        if (context().executor().inEventLoop()) {
            task.run();
        } else {
            context().executor().execute(() -> {
                task.run();
                context().flush();
            });
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext read, Object message) throws Exception {
        connection.heardWithoutPause();
        super.channelRead(read, message);
        countIncomplete(read);
    }

    /**
     * Counts the bytes of an incomplete frame and of an incomplete header block, and limits the time until both are
     * complete.
     */
    private void countIncomplete(ChannelHandlerContext read) {
        int buffered = actualReadableBytes();
        int bytes = buffered + frames.blockBytes();
        IncompleteInput input = incomplete;
        if (input == null && bytes > 0) {
            input = connection.newIncompleteInput(how -> fail(context(), Http2Error.ENHANCE_YOUR_CALM, how));
            incomplete = input;
        }
        if (input == null) {
            return;
        }
        if (bytes > 0 && completed != frames.completed()) {
            completed = frames.completed();
            input.complete();
        }
        // a few bytes are not counted even if their buffer is large, because reads often end within a frame
        int held = bytes < BodyReader.SMALL_BYTES
                ? 0
                : frames.blockBytes() + internalBuffer().capacity();
        input.arrived(read, bytes, held);
    }

    /** Like the overridden method, but requests no more bytes while reading is paused. */
    @Override
    public void channelReadComplete(ChannelHandlerContext read) throws Exception {
        try {
            discardSomeReadBytes();
            ByteBuf few = FewBytes.takenFrom(internalBuffer());
            if (few != null) {
                super.channelRead(read, few); // replaces the large buffer
                countIncomplete(read);
            }
            read.fireChannelReadComplete();
        } finally {
            flush(read);
        }
    }

    private @Nullable Http2Exchange exchange(int streamId) {
        Http2Stream stream = connection().stream(streamId);
        return stream == null ? null : stream.getProperty(exchangeKey);
    }

    private void streamClosed(Http2Stream stream) {
        limits.streamEnded(System.nanoTime());
        Http2Exchange exchange = stream.getProperty(exchangeKey);
        if (exchange != null) {
            exchange.closed();
        }
        if (drain != null) {
            drain.streamClosed();
        }
    }

    /** Resets a stream on the server's initiative and records the reset. */
    void resetByUs(Http2Stream stream, Http2Error error) {
        history.resetByUs(stream.id());
        resetStream(context(), stream.id(), error.code(), context().newPromise());
        context().flush();
    }

    /** Handles an answer that ended before its request was complete. */
    void endedEarly(Http2Stream stream) {
        early.add(stream.id(), context().executor());
    }

    /**
     * Resets a stream that exceeds the maximum number of concurrent streams. Netty would refuse the stream without
     * creating it, and would close the connection at the stream's next frame. This class therefore enforces the limit
     * instead of Netty.
     */
    private void refuse(Http2Stream stream) throws Http2Exception {
        // a client that has not received the settings yet cannot know the limit, so this reset does not count towards
        // the client's limits
        if (settingsKnown) {
            limits.reset(System.nanoTime(), false);
        }
        connection.calls().refused(Refusal.CONNECTION);
        resetByUs(stream, Http2Error.REFUSED_STREAM);
    }

    /**
     * Enlarges the client's flow-control window by the given number of bytes. Called when bytes of a request have been
     * processed.
     */
    void consumed(Http2Stream stream, int bytes) {
        try {
            decoder().flowController().consumeBytes(stream, bytes);
        } catch (Http2Exception e) {
            onError(context(), false, e);
        }
        fitWindows();
    }

    /** Adjusts the flow-control windows, so that unread messages of one stream do not block other streams. */
    private void fitWindows() {
        windows = ReceiveWindows.fit(windows, this, context());
    }

    /** Returns the object that writes the answers of this connection. */
    AnswerOutput output() {
        return output;
    }

    @Override
    public void flush(ChannelHandlerContext flushed) {
        output.writeGathered();
        super.flush(flushed);
        output.flushed();
    }

    /**
     * Asks the client to open no more streams. The final GOAWAY frame follows once the streams that were in flight have
     * arrived.
     */
    void drain() {
        if (drain == null) {
            output.draining();
            drain = new ConnectionDrain(this, frames, this::countInVain, connection::closeWhenWritten);
            drain.begin(context());
        }
    }

    @Override
    protected void onConnectionError(
            ChannelHandlerContext failed, boolean outbound, Throwable cause, @Nullable Http2Exception error) {
        if (failed.channel().isActive()) { // Failed writes on a closed connection are not logged.
            connection.logClosing(String.valueOf(cause.getMessage()), null);
        }
        super.onConnectionError(failed, outbound, cause, error);
    }

    @Override
    protected void onStreamError(
            ChannelHandlerContext failed, boolean outbound, Throwable cause, Http2Exception.StreamException error) {
        StreamErrors.Reaction reaction;
        try {
            reaction = errors.reactionTo(error, outbound);
        } catch (Http2Exception ofConnection) {
            onConnectionError(failed, false, ofConnection, ofConnection);
            return;
        }
        switch (reaction) {
            case RESET -> super.onStreamError(failed, outbound, cause, error);
            case RESET_AS_CLOSED -> resetByUs(connection().stream(error.streamId()), Http2Error.STREAM_CLOSED);
            case NONE -> {}
        }
    }

    /**
     * Closes the connection after an exception that is not an HTTP/2 error. Logs the exception at a limited rate. If
     * the client has disconnected or violated the TLS protocol, the exception is logged only at level DEBUG.
     */
    @Override
    public void exceptionCaught(ChannelHandlerContext failed, Throwable cause) throws Exception {
        if (Http2CodecUtil.getEmbeddedHttp2Exception(cause) != null) {
            super.exceptionCaught(failed, cause);
            return;
        }
        if (cause instanceof IOException || cause.getCause() instanceof IOException) {
            LOG.debug("Closing {}", failed.channel(), cause);
        } else {
            connection.logClosing("a frame could not be handled", cause);
        }
        failed.close();
    }

    private void fail(ChannelHandlerContext failed, Http2Error error, String how) {
        Http2Exception failure = Http2Exception.connectionError(error, how);
        onConnectionError(failed, false, failure, failure);
    }

    /** Receives the events of the HTTP/2 decoder and of streams. */
    private final class Frames extends ControlFrameListener {

        Frames() {
            super(limits, connection());
        }

        @Override
        public void onStreamAdded(Http2Stream stream) {
            history.opened(stream.id());
        }

        @Override
        public void onStreamClosed(Http2Stream stream) {
            streamClosed(stream);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext read, int streamId, Http2Headers headers, int padding, boolean endOfStream)
                throws Http2Exception {
            limits.arrived(true);
            limits.moved();
            Http2Stream stream = connection().stream(streamId);
            Http2Exchange known = stream.getProperty(exchangeKey);
            if (known != null && !endOfStream) {
                throw Http2Exception.streamError(
                        streamId, Http2Error.PROTOCOL_ERROR, "more headers that do not end stream %d", streamId);
            }
            // if the exchange exists, these headers are trailers; no protocol uses trailers in requests, so only the
            // end of the stream matters
            if (known != null) {
                end(known, endOfStream);
                return;
            }
            if (connection().remote().numActiveStreams() > connection.settings().maxInFlight()) {
                refuse(stream);
                return;
            }
            if (isEmpty(headers.method()) || isEmpty(headers.scheme()) || isEmpty(headers.path())) {
                // RFC 9113, 8.3.1 requires the headers :method, :scheme and :path. Some Netty versions in applications
                // do not check them.
                throw Http2Exception.streamError(
                        streamId,
                        Http2Error.PROTOCOL_ERROR,
                        "the request of stream %d lacks :method, :scheme or :path",
                        streamId);
            }
            Http2Exchange exchange = new Http2Exchange(connection, headers, Http2ServerHandler.this, stream);
            stream.setProperty(exchangeKey, exchange);
            requests.begin(exchange, headers.size() > MAX_FIELDS, hold(exchange, headers));
            if (!endOfStream && exchange.call() != null && HeadFields.expectsContinue(headers)) {
                output.writeContinue(stream); // some clients do not send the body until they have received this answer
            }
            end(exchange, endOfStream);
        }

        /** @return the reason why the headers do not fit into the memory budget; null if they fit */
        private @Nullable RpcException hold(Http2Exchange exchange, Http2Headers headers) {
            int bytes = HeadMemory.countedBytes(headers, blocks.lastBytes());
            RpcException refusal = HeadMemory.hold(bytes, connection);
            if (refusal == null) {
                exchange.holdsHead(bytes);
            }
            return refusal;
        }

        private boolean isEmpty(@Nullable CharSequence pseudoHeader) {
            return pseudoHeader == null || pseudoHeader.length() == 0;
        }

        private void end(Http2Exchange exchange, boolean endOfStream) {
            HttpExchange.Call call = exchange.call();
            if (endOfStream && call != null) {
                call.end();
            }
        }

        @Override
        public int onDataRead(ChannelHandlerContext read, int streamId, ByteBuf data, int padding, boolean endOfStream)
                throws Http2Exception {
            limits.arrived(data.isReadable() || endOfStream);
            limits.moved();
            Http2Stream stream = connection().stream(streamId);
            if (EarlyAnswers.isOpen(stream) && !endOfStream) {
                // the answer is complete, so nobody needs the rest of the request
                resetByUs(stream, Http2Error.NO_ERROR);
                return data.readableBytes() + padding;
            }
            Http2Exchange exchange = stream.getProperty(exchangeKey);
            HttpExchange.Call call = exchange == null ? null : exchange.call();
            if (exchange == null || call == null) {
                // the request has already been answered, so its bytes are dropped and returned to the flow-control
                // window
                return data.readableBytes() + padding;
            }
            if (data.isReadable()) {
                exchange.received(data.readableBytes());
                call.data(data.retain());
                fitWindows();
            }
            end(exchange, endOfStream);
            return padding;
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext read, int streamId, long error) throws Http2Exception {
            history.reset(streamId);
            Http2Exchange exchange = exchange(streamId);
            if (exchange != null && exchange.countsAsReset()) {
                limits.reset(System.nanoTime(), exchange.resetMayBeTimeout());
            }
        }

        @Override
        public void onPingRead(ChannelHandlerContext read, long data) throws Http2Exception {
            // pings during an answer are not limited, because gRPC clients use them to measure the bandwidth
            if (output.account().unreadBytes() > 0) {
                limits.forgivePings();
            }
            limits.ping(System.nanoTime(), connection().numActiveStreams() > 0);
        }

        @Override
        public void onPingAckRead(ChannelHandlerContext read, long data) throws Http2Exception {
            if (drain == null || !drain.acknowledged(data, read)) {
                super.onPingAckRead(read, data); // the frame does not acknowledge a ping that ConnectionDrain sent
            }
        }

        @Override
        public void onSettingsRead(ChannelHandlerContext read, Http2Settings settings) throws Http2Exception {
            super.onSettingsRead(read, settings);
            output.accept(settings);
            connection.unread().inSteps(encoder().flowController().initialWindowSize() / 2);
        }

        @Override
        public void onSettingsAckRead(ChannelHandlerContext read) throws Http2Exception {
            settingsKnown = true;
            // Netty has just applied the announced stream limit; this limit is removed from Netty, because refuse()
            // enforces it
            connection().remote().maxActiveStreams(Integer.MAX_VALUE);
            super.onSettingsAckRead(read);
            if (windows != null) {
                windows.acknowledged(read);
            }
        }

        @Override
        public void onWindowUpdateRead(ChannelHandlerContext read, int streamId, int increment) throws Http2Exception {
            output.account().windowOpened(System.nanoTime());
            limits.controlFrame(System.nanoTime());
        }
    }
}
