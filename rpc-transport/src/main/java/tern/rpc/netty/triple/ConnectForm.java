package tern.rpc.netty.triple;

import io.netty.util.AsciiString;
import tern.rpc.RpcException;
import tern.rpc.transport.ServiceLookup;

/** Unary Connect: bare messages and HTTP statuses (docs/wire-protocol.md 7.1). Stateless. */
final class ConnectForm implements HttpForm {

    static final AsciiString PROTO = AsciiString.cached("application/proto");
    static final AsciiString JSON = AsciiString.cached("application/json");

    private final TripleCodecs codecs;
    private final String codec;

    /** @param codec {@code json} or {@code proto} */
    ConnectForm(TripleCodecs codecs, String codec) {
        this.codecs = codecs;
        this.codec = codec;
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
        int limit = exchange.connection().settings().maxRequestBytes();
        return new ConnectUnaryCall(
                codecs, exchange, route, codec.equals(ConnectAnswers.JSON), new WholeBody(limit, gzip), gzip);
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        ConnectAnswers.refuse(exchange, reason);
    }
}
