package tern.rpc.netty.triple;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.ReadOnlyHttp2Headers;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AsciiString;
import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;

/**
 * The calls of a client on one HTTP/2 connection, and the streams of these calls. Opens a stream for each request, up
 * to the number of concurrent streams that the server permits. Additional requests wait in order, and are passed to
 * another connection if they have waited for a while. Confined to the event loop.
 */
final class RequestStreams {

    /**
     * The connection is replaced when only {@value} stream ids remain. Calls that are already queued use the remaining
     * ids.
     */
    private static final int LAST_IDS = 4_096;

    /**
     * The time after which waiting calls are passed to another connection. If many short calls wait only briefly, no
     * additional connection is needed.
     */
    private static final long RELIEF_MILLIS = 200;

    /**
     * The time for which a server may permit no streams at all. RFC 9113, 5.1.2 allows this only for a short time. After
     * this time, waiting calls fail, so that they can be sent to another provider before their deadlines.
     */
    private static final long NO_STREAMS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final AsciiString HTTP = AsciiString.cached("http");
    private static final AsciiString HTTPS = AsciiString.cached("https");

    private final Connection connection;
    private final Http2Connection http2;
    private final Http2ConnectionEncoder encoder;
    private final Http2Connection.PropertyKey callKey;
    private final AsciiString authority;
    private final PlainRequests plain;
    private final RequestMessages messages;
    private final Http2Limits limits;
    // the calls, by the request id in their PendingCall
    private final LongObjectMap<ClientCall> calls = new LongObjectHashMap<>();
    private final Queue<ClientCall> waiting = new ArrayDeque<>();
    private @Nullable ChannelHandlerContext context;
    private AsciiString scheme = HTTP;
    private boolean active;
    private boolean settingsRead; // false until the server has announced its maximum number of concurrent streams
    // true if the server has announced that it will close the connection, and has reported no error
    private boolean leavesInOrder;
    private boolean relieving; // true if a check for waiting calls is scheduled
    private boolean permitsNone; // true while the server permits no streams at all
    private long permitsNoneSinceNanos;

    RequestStreams(
            Connection connection,
            Http2ConnectionEncoder encoder,
            HeaderTable table,
            JoinedWrites joined,
            RequestMessages messages,
            Http2Limits limits) {
        this.connection = connection;
        this.http2 = encoder.connection();
        this.encoder = encoder;
        this.callKey = http2.newKey();
        this.authority = new AsciiString(connection.endpoint().authority());
        this.plain = new PlainRequests(http2, encoder, table, joined, authority);
        this.messages = messages;
        this.limits = limits;
    }

    /** Called when the handler has been added to its channel. */
    void added(ChannelHandlerContext handler) {
        context = handler;
        if (handler.pipeline().get(SslHandler.class) != null) {
            scheme = HTTPS;
        }
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    /** Called when the channel is open. */
    void connected() {
        active = true;
    }

    /** Called when the channel is closed. No stream is opened afterwards. */
    void disconnected() {
        active = false;
    }

    boolean isActive() {
        return active;
    }

    /** Called when the server has announced its maximum number of concurrent streams. */
    void settingsRead() {
        settingsRead = true;
        int permitted = http2.local().maxActiveStreams();
        connection.calls().served(permitted);
        if (permitted == 0 && !permitsNone) {
            permitsNoneSinceNanos = System.nanoTime();
        }
        permitsNone = permitted == 0;
        if (!waiting.isEmpty()) {
            relieveLater();
        }
    }

    // ---- Request queue

    /** Opens a stream for a queued call. If no stream is free, the call waits. */
    void begin(ClientCall call) {
        if (call.isOver()) {
            drop(call);
            return;
        }
        if (http2.goAwayReceived()) {
            passOn(call);
            return;
        }
        calls.put(call.pending().id(), call);
        if (waiting.isEmpty() && mayOpen()) {
            open(call);
        } else {
            waiting.add(call);
            relieveLater();
            failWithoutStreams();
        }
    }

    /** Fails the waiting calls if the server has permitted no streams for a long time. */
    private void failWithoutStreams() {
        if (!permitsNone || System.nanoTime() - permitsNoneSinceNanos < NO_STREAMS_NANOS) {
            return;
        }
        // the calls are removed first, because the failure of a call can immediately add its retry to the waiting calls
        List<ClientCall> failing = List.copyOf(waiting);
        waiting.clear();
        for (ClientCall call : failing) {
            drop(call);
            call.fail(
                    StatusCode.UNAVAILABLE,
                    "the server has permitted no streams for "
                            + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - permitsNoneSinceNanos) + " ms",
                    Executed.NO);
        }
    }

    private void relieveLater() {
        if (!relieving && settingsRead && active) {
            relieving = true;
            context().executor().schedule(this::relieve, RELIEF_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Passes waiting calls to another connection, but at most as many as that connection can serve immediately. A
     * stream that has sent messages is not passed on, because its call could not be repeated.
     */
    private void relieve() {
        relieving = false;
        while (!waiting.isEmpty() && waiting.element().isOver()) {
            drop(waiting.remove());
        }
        if (waiting.isEmpty() || !active) {
            return;
        }
        if (waiting.stream().anyMatch(RequestStreams::mayMove)) {
            move(connection.relief());
        }
        failWithoutStreams();
        relieveLater();
    }

    private void move(int free) {
        // the calls are collected first, because passing on a call can immediately add its retry to the waiting calls
        List<ClientCall> moving = new ArrayList<>();
        for (Iterator<ClientCall> next = waiting.iterator(); next.hasNext() && moving.size() < free; ) {
            ClientCall call = next.next();
            if (mayMove(call)) {
                next.remove();
                moving.add(call);
            }
        }
        moving.forEach(this::passOn);
    }

    private static boolean mayMove(ClientCall call) {
        return !(call instanceof StreamCall stream) || stream.mayMove();
    }

    private boolean mayOpen() {
        return settingsRead && active && http2.local().canOpenStream();
    }

    /**
     * Opens streams for waiting requests until no stream is free.
     *
     * @return whether a stream was opened; the caller then flushes the channel
     */
    boolean openWaiting() {
        boolean opened = false;
        while (!waiting.isEmpty() && mayOpen()) {
            ClientCall call = waiting.remove();
            if (call.isOver()) {
                drop(call);
            } else {
                open(call);
                opened = true;
            }
        }
        return opened;
    }

    private void open(ClientCall call) {
        int id = http2.local().incrementAndGetNextStreamId();
        if (id < 0 || http2.goAwayReceived()) {
            passOn(call);
            return;
        }
        if (id > Integer.MAX_VALUE - 2 * LAST_IDS) {
            connection.drain();
        }
        if (!call.pending().markSent()) {
            drop(call); // The call has just ended, so no stream is opened with its stream id.
            return;
        }
        byte[] message = call.request();
        if (message != null && call instanceof UnaryCall && plain.fits(call, message)) {
            openInOneGo(call, message, id);
            return;
        }
        Http2Headers headers = ReadOnlyHttp2Headers.clientHeaders(
                false, PlainRequests.POST, call.requestHead().path(), scheme, authority, call.requestFields());
        ChannelPromise headersPromise =
                message == null ? call.requestPromise() : context().newPromise();
        ChannelFuture written = encoder.writeHeaders(context(), id, headers, 0, false, headersPromise);
        Http2Stream stream = http2.stream(id);
        if (stream == null || written.cause() != null) {
            calls.remove(call.pending().id());
            call.requestPromise().trySuccess();
            Throwable cause = written.cause();
            String reason = cause == null ? "its stream is closed" : String.valueOf(cause.getMessage());
            call.fail(StatusCode.RESOURCE_EXHAUSTED, "its headers cannot be sent: " + reason, Executed.NO);
            return;
        }
        limits.moved();
        stream.setProperty(callKey, call);
        if (message != null) {
            messages.write(stream, message, true, call.requestPromise());
        }
        call.requestWritten();
        if (call instanceof StreamCall streaming) {
            streaming.opened(messages, stream);
        } else {
            call.opened(stream);
            if (call instanceof UnaryCall unary && call.pending().isOneWay()) {
                call.requestPromise().addListener(done -> {
                    if (done.isSuccess()) {
                        unary.requestTaken();
                    }
                });
            }
        }
    }

    private void openInOneGo(ClientCall call, byte[] message, int id) {
        Http2Stream stream;
        try {
            stream = plain.open(id, message.length);
        } catch (Http2Exception e) {
            drop(call);
            call.fail(StatusCode.RESOURCE_EXHAUSTED, "its stream cannot be opened: " + e.getMessage(), Executed.NO);
            return;
        }
        limits.moved();
        stream.setProperty(callKey, call);
        plain.write(stream, call, message, scheme);
        call.requestWritten();
        call.opened(stream);
    }

    /** Passes the call to another connection, because this connection accepts no more streams. */
    private void passOn(ClientCall call) {
        drop(call);
        boolean passed = call instanceof UnaryCall unary && connection.passOn(call.pending(), unary::on);
        if (!passed) {
            call.unsent("the server takes no new calls on this connection");
        }
    }

    /** Drops a waiting request whose call has ended. */
    private void drop(ClientCall call) {
        end(call);
        call.requestPromise().trySuccess();
    }

    /**
     * Called when the server accepts no more streams. Passes the waiting requests to another connection.
     *
     * @param inOrder whether the server closes the connection without an error, for example because of its age
     */
    void goAway(boolean inOrder) {
        leavesInOrder = inOrder;
        for (ClientCall call = waiting.poll(); call != null; call = waiting.poll()) {
            passOn(call);
        }
    }

    // ---- Call lookup

    /** Returns the call of a stream; null if the stream or its call has ended. */
    @Nullable
    ClientCall call(int streamId) {
        Http2Stream stream = http2.stream(streamId);
        return stream == null ? null : call(stream);
    }

    @Nullable
    ClientCall call(Http2Stream stream) {
        return stream.getProperty(callKey);
    }

    /**
     * Removes the call because its caller no longer waits for the answer.
     *
     * @return the stream of the call; null if the call is unknown or has no stream
     */
    @Nullable
    Http2Stream cancel(long pendingId) {
        ClientCall call = calls.remove(pendingId);
        if (call == null) {
            return null;
        }
        call.close();
        if (call.stream() == null && waiting.remove(call)) {
            call.requestPromise().trySuccess();
        }
        return call.stream();
    }

    /** Removes the call. A later cancellation has no effect on it. */
    void end(ClientCall call) {
        calls.remove(call.pending().id());
        call.close();
    }

    /**
     * Ends the call of a stream that has been closed. A call whose whole answer has arrived continues until its
     * messages have been read.
     */
    void closed(Http2Stream stream) {
        ClientCall call = stream.removeProperty(callKey);
        if (call == null) {
            return;
        }
        if (call.isOver() || !call.isAnswered()) {
            calls.remove(call.pending().id());
            if (!call.isOver() && active) {
                failClosed(stream, call);
            }
            call.close();
        }
        call.streamClosed();
    }

    private void failClosed(Http2Stream stream, ClientCall call) {
        String how = "the server closed the connection before it processed the call";
        if (!http2.goAwayReceived() || stream.id() <= http2.local().lastStreamKnownByPeer()) {
            call.fail(StatusCode.INTERNAL, "its stream was closed", Executed.MAYBE);
        } else if (stream.isHeadersReceived()) {
            // a server that has begun to answer has run the call, even if its GOAWAY frame states the opposite
            call.fail(StatusCode.UNAVAILABLE, "the server closed the connection during its answer", Executed.MAYBE);
        } else if (leavesInOrder) {
            call.unsent(how);
        } else {
            call.fail(StatusCode.UNAVAILABLE, how, Executed.NO);
        }
    }

    /**
     * Ends all calls because the connection has been lost. A call whose complete answer has arrived still receives the
     * answer.
     */
    void loseAll() {
        for (ClientCall call : List.copyOf(calls.values())) {
            if (call.isOver() || !call.isAnswered()) {
                end(call);
            }
        }
        for (ClientCall call = waiting.poll(); call != null; call = waiting.poll()) {
            drop(call);
        }
    }
}
