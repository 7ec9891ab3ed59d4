package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import tern.rpc.RpcException;
import tern.rpc.transport.ServiceLookup;

/**
 * The unary variant of the Connect protocol. Messages have no envelope, and the outcome of a call is reported as an
 * HTTP status (docs/wire-protocol.md 7.1). Stateless.
 */
final class ConnectForm implements HttpForm {

    static final AsciiString PROTO = AsciiString.cached("application/proto");
    static final AsciiString JSON = AsciiString.cached("application/json");

    private final TripleCodecs codecs;
    private final String codec;
    private final ConnectUnaryEncoding encoding;

    /** @param codec {@code json} or {@code proto} */
    ConnectForm(TripleCodecs codecs, String codec) {
        this.codecs = codecs;
        this.codec = codec;
        this.encoding = new ConnectUnaryEncoding(codecs, codec.equals(ConnectAnswers.JSON));
    }

    @Override
    public HttpCall call(HttpExchange exchange, ServiceLookup services) {
        Route route = ConnectAnswers.route(exchange, services);
        ConnectAnswers.checkServes(route.required(), codecs, codec, false);
        boolean gzip = ContentCoding.isGzip("content-encoding", exchange.head().get(ConnectHeaders.CONTENT_ENCODING));
        return call(exchange, route, gzip);
    }

    @Override
    public HttpCall callNowhere(HttpExchange exchange) {
        boolean gzip = ContentCoding.mayBeGzip(exchange.head().get(ConnectHeaders.CONTENT_ENCODING));
        return call(exchange, Route.nowhere(exchange.head()), gzip);
    }

    private HttpCall call(HttpExchange exchange, Route route, boolean gzip) {
        return call(encoding, exchange, route, new WholeBody(exchange.maxRequestBytes(), gzip), gzip);
    }

    /**
     * Creates a unary Connect call.
     *
     * @param gzip whether the request message is compressed with gzip
     */
    static HttpCall call(
            ConnectUnaryEncoding encoding, HttpExchange exchange, Route route, BodyReader body, boolean gzip) {
        Http2Headers head = exchange.head();
        return new HttpCall(
                encoding,
                exchange,
                route,
                body,
                ConnectHeaders.timeoutNanos(head),
                ConnectHeaders.acceptsGzip(head, ConnectHeaders.ACCEPT_ENCODING, gzip));
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        ConnectAnswers.refuse(exchange, reason);
    }
}
