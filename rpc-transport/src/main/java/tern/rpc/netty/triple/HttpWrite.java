package tern.rpc.netty.triple;

import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;

/** A part of an answer, or all of it: head, body bytes and trailers, each of them optional. */
final class HttpWrite extends WriteCommand {

    /** The bytes counted for a waiting head or trailers. */
    private static final int HEADERS_BYTES = 128;

    /** The bytes counted for a message besides its own, so that empty messages are not free. */
    private static final int MESSAGE_BYTES = 32;

    private final HttpExchange exchange;
    private @Nullable Http2Headers head; // for a plain answer, created on demand
    private final byte @Nullable [] body;
    private final @Nullable Http2Headers trailers;
    private final boolean end;
    private final @Nullable AsciiString plainType;

    /** @param end whether this is the last part; always true with trailers */
    HttpWrite(
            HttpExchange exchange,
            @Nullable Http2Headers head,
            byte @Nullable [] body,
            @Nullable Http2Headers trailers,
            boolean end) {
        this.exchange = exchange;
        this.head = head;
        this.body = body;
        this.trailers = trailers;
        this.end = end;
        this.plainType = null;
    }

    private HttpWrite(HttpExchange exchange, AsciiString plainType, byte[] message) {
        this.exchange = exchange;
        this.head = null;
        this.body = message;
        this.trailers = null;
        this.end = true;
        this.plainType = plainType;
    }

    /** Creates a complete successful answer of gRPC with one message and only the usual headers. */
    static HttpWrite plain(HttpExchange exchange, AsciiString contentType, byte[] message) {
        return new HttpWrite(exchange, contentType, message);
    }

    /** The content type of a plain answer without additions; null for any other answer. */
    @Nullable
    AsciiString plainType() {
        return head == null ? plainType : null;
    }

    @Nullable
    Http2Headers head() {
        if (head == null && plainType != null) {
            head = GrpcHeaders.head(plainType);
        }
        return head;
    }

    byte @Nullable [] body() {
        return body;
    }

    @Nullable
    Http2Headers trailers() {
        return plainType == null ? trailers : GrpcHeaders.okTrailers();
    }

    boolean isEnd() {
        return end;
    }

    /** Whether this is a message of a stream without head and trailers, and more may follow. */
    boolean isMessageAlone() {
        return head == null && trailers == null && plainType == null && !end && body != null;
    }

    @Override
    public int bytes() {
        return (isMessageAlone() ? MESSAGE_BYTES : HEADERS_BYTES) + (body == null ? 0 : body.length);
    }

    @Override
    protected void dropped(Channel closed) {
        exchange.left(bytes());
    }

    @Override
    protected void write(WriteBatch batch) {
        exchange.write(this, batch);
    }
}
