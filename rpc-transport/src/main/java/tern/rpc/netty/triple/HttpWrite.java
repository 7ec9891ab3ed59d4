package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;

/** Part of an answer, or all of it: head, body bytes, trailers, each of which may be missing. */
final class HttpWrite extends WriteCommand {

    /** What a head or trailers count as while they wait. */
    private static final int HEADERS_BYTES = 128;

    private final HttpExchange exchange;
    private final @Nullable Http2Headers head;
    private final byte @Nullable [] body;
    private final @Nullable Http2Headers trailers;
    private final boolean end;

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
    }

    @Nullable
    Http2Headers head() {
        return head;
    }

    byte @Nullable [] body() {
        return body;
    }

    @Nullable
    Http2Headers trailers() {
        return trailers;
    }

    boolean isEnd() {
        return end;
    }

    @Override
    public int bytes() {
        return HEADERS_BYTES + (body == null ? 0 : body.length);
    }

    @Override
    protected void write(WriteBatch batch) {
        exchange.write(this, batch);
    }
}
