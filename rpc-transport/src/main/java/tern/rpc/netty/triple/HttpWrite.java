package tern.rpc.netty.triple;

import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;

/** Part of an answer, or all of it: head, body bytes, trailers, each of which may be missing. */
final class HttpWrite extends WriteCommand {

    /** What a head or trailers count as while they wait. */
    private static final int HEADERS_BYTES = 128;

    /** What a message counts as beside its bytes, so that empty messages are not free. */
    private static final int MESSAGE_BYTES = 32;

    private final HttpExchange exchange;
    private @Nullable Http2Headers head; // of a plain answer, made when somebody asks
    private final byte @Nullable [] body;
    private final @Nullable Http2Headers trailers;
    private final boolean end;
    private final @Nullable AsciiString plainType;

    /** @param end whether nothing follows; always with trailers */
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

    /** A whole answer of gRPC that succeeded, with one message and nothing in its headers but what every answer has. */
    static HttpWrite plain(HttpExchange exchange, AsciiString contentType, byte[] message) {
        return new HttpWrite(exchange, contentType, message);
    }

    /** The content type of a plain answer to which nothing was added; null for any other. */
    @Nullable
    AsciiString plainType() {
        return head == null ? plainType : null;
    }

    @Nullable
    Http2Headers head() {
        if (head == null && plainType != null) {
            head = GrpcForm.head(plainType);
        }
        return head;
    }

    byte @Nullable [] body() {
        return body;
    }

    @Nullable
    Http2Headers trailers() {
        return plainType == null ? trailers : GrpcForm.okTrailers();
    }

    boolean isEnd() {
        return end;
    }

    /** Whether this is a message of a stream with neither head nor trailers, and more may follow. */
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
