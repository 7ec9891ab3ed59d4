package tern.rpc.netty.triple;

import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;

/** A part of an answer, or a complete answer. This object can contain headers, body bytes and trailers. */
final class HttpWrite extends WriteCommand {

    /** The number of bytes counted for waiting headers or trailers. */
    private static final int HEADERS_BYTES = 128;

    /**
     * The number of bytes counted for a message in addition to its own bytes, so that empty messages are counted too.
     */
    private static final int MESSAGE_BYTES = 32;

    private final HttpExchange exchange;
    // the headers of this part; head() creates the headers of a plain() answer on demand
    private @Nullable Http2Headers head;
    private final byte @Nullable [] body;
    private final @Nullable Http2Headers trailers;
    private final boolean end;
    private final @Nullable AsciiString plainType;

    /** @param end whether this is the last part of the answer; must be true if there are trailers */
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

    /** Creates a complete successful gRPC answer with one message and without application metadata. */
    static HttpWrite plain(HttpExchange exchange, AsciiString contentType, byte[] message) {
        return new HttpWrite(exchange, contentType, message);
    }

    /** Returns the content type if {@link #plain} created this answer; otherwise null. */
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

    /**
     * Returns whether this part contains only a message of a stream. Such a part has no headers and no trailers, and
     * does not end the answer.
     */
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
