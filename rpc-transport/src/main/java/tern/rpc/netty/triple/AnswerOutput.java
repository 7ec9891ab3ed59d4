package tern.rpc.netty.triple;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.ServerConnection;

/**
 * Writes the answers of a server's HTTP/2 connection without Netty's codec if possible. Counts the bytes that the
 * client has not read. Confined to the event loop.
 */
final class AnswerOutput {

    /**
     * The estimated memory of an answer's headers while they wait for the socket, in bytes. The estimate includes their
     * promise and the objects of the exchange.
     */
    private static final int WAITING_HEADERS_BYTES = 1 << 10;

    /**
     * The estimated memory of a complete answer that waits in the codec, in addition to its bytes. The estimate includes
     * the stream, the headers of the request and of the answer, and the objects of the exchange.
     */
    private static final int WAITING_CALL_BYTES = 2 << 10;

    private final Http2ConnectionEncoder encoder;
    private final AnswerAccount account;
    private final JoinedWrites joined;
    private final PlainAnswers plain;
    // the exchanges whose messages the next flush writes
    private final List<Http2Exchange> gathering = new ArrayList<>();
    private long headerListBytes = Long.MAX_VALUE; // the maximum size of headers that the client accepts
    private boolean draining;
    private @Nullable ChannelHandlerContext context;

    /** @param account counts the bytes of the answers that the client has not read */
    AnswerOutput(ServerConnection connection, Http2ConnectionEncoder encoder, AnswerAccount account) {
        this.encoder = encoder;
        this.account = account;
        this.joined = new JoinedWrites(this::plainTaken, connection.unread()::add);
        this.plain = new PlainAnswers(connection, encoder, joined, this::headerListBytes);
    }

    /** Called when the connection's handler has been added to its channel. */
    void added(ChannelHandlerContext handler) {
        context = handler;
        handler.pipeline().addBefore(handler.name(), null, joined);
        account.added(handler);
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    /** Returns the object that counts the answer bytes that the client has not read. */
    AnswerAccount account() {
        return account;
    }

    /** Records the client's settings that Netty's codec ignores on servers. */
    void accept(Http2Settings settings) {
        Long most = settings.maxHeaderListSize();
        if (most != null) {
            headerListBytes = most;
        }
    }

    /** Returns the maximum size of headers that the client accepts. Netty's codec ignores this setting on a server. */
    long headerListBytes() {
        return headerListBytes;
    }

    /** Called when the server asks the client to open no more streams. The codec then writes all answers. */
    void draining() {
        draining = true;
    }

    /** Returns whether the socket and the flow-control windows of the stream and the connection accept more bytes. */
    boolean isWritable(Http2Stream stream) {
        Http2RemoteFlowController windows = encoder.flowController();
        return context().channel().isWritable()
                && windows.windowSize(stream) > 0
                && windows.windowSize(encoder.connection().connectionStream()) > 0;
    }

    // ---- stream messages

    /** Adds an exchange with gathered messages. The messages are written before the next flush. */
    void gathering(Http2Exchange exchange) {
        gathering.add(exchange);
    }

    ChannelFuture write(Http2Stream stream, GatheredMessages messages) {
        return messages.write(context(), encoder, stream, joined);
    }

    /** Writes the gathered messages. Called before a flush. */
    void writeGathered() {
        for (int i = 0; i < gathering.size(); i++) {
            gathering.get(i).writeGathered();
        }
        gathering.clear();
    }

    /** Called after the channel has been flushed. */
    void flushed() {
        plain.flushed();
    }

    // The following methods write complete answers without Netty's codec, and count the parts of answers that the codec
    // writes.

    /** Writes the interim answer 100 (Continue). The client waits for this answer before it sends the body. */
    void writeContinue(Http2Stream stream) {
        Http2Headers head = new DefaultHttp2Headers(false, 1).status(HttpResponseStatus.CONTINUE.codeAsText());
        headersWritten(encoder.writeHeaders(
                context(), stream.id(), head, 0, false, context().newPromise()));
    }

    /**
     * Writes a complete successful answer directly as bytes, without Netty's codec.
     *
     * @param counted the number of bytes to pass to {@link AnswerAccount#written} when the socket has accepted the
     *     answer
     * @return false if the codec must write the answer
     */
    boolean writePlain(Http2Stream stream, AsciiString contentType, byte[] message, int counted) {
        return !draining && plain.write(stream, encoder.connection().connectionStream(), contentType, message, counted);
    }

    private void plainTaken(int bytes) {
        if (bytes > 0) {
            account.written(bytes);
            plain.taken(bytes);
        }
    }

    /**
     * Called when the codec has written the headers of an answer. Counts the headers until the socket has accepted
     * them, because they wait for the socket even if their stream is reset. Without this count, a client could fill the
     * memory with small answers by resetting each answer's stream and opening another one.
     */
    void headersWritten(ChannelFuture taken) {
        if (!taken.isDone()) {
            plain.codecWrites(WAITING_HEADERS_BYTES);
            taken.addListener(done -> plain.taken(WAITING_HEADERS_BYTES));
        }
    }

    /**
     * Called when the codec has been given the last part of an answer. Counts the objects of the call until the socket
     * has accepted this part. Without this count, a client that never opens its flow-control window could fill the
     * memory with small answers.
     */
    void endWritten(ChannelFuture taken) {
        if (!taken.isDone()) {
            plain.codecWrites(WAITING_CALL_BYTES);
            taken.addListener(done -> plain.taken(WAITING_CALL_BYTES));
        }
    }
}
