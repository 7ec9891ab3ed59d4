package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;

/** A plain HTTP answer to a request that does not belong to an RPC protocol. */
final class PlainAnswer {

    private PlainAnswer() {}

    static void send(HttpExchange exchange, HttpResponseStatus status, String text) {
        exchange.send(of(exchange, status, text));
    }

    static HttpWrite of(HttpExchange exchange, HttpResponseStatus status, String text) {
        return of(exchange, head(status), text);
    }

    /** Sends a plain-text answer with one additional header. */
    static void send(HttpExchange exchange, HttpResponseStatus status, String text, String name, String value) {
        exchange.send(of(exchange, head(status).set(name, value), text));
    }

    private static Http2Headers head(HttpResponseStatus status) {
        return new DefaultHttp2Headers(false, 4)
                .status(status.codeAsText())
                .set("content-type", "text/plain; charset=utf-8");
    }

    private static HttpWrite of(HttpExchange exchange, Http2Headers head, String text) {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        return new HttpWrite(exchange, head.setInt("content-length", body.length), body, null, true);
    }
}
