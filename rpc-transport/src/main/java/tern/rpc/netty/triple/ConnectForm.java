package tern.rpc.netty.triple;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.transport.ServiceLookup;

/** Connect with one message each way: bare messages and statuses of HTTP (wire document 7.1). Stateless. */
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
    public @Nullable HttpCall call(HttpExchange exchange, ServiceLookup services) {
        Route route = ConnectAnswers.route(exchange, services);
        if (route == null || !ConnectAnswers.serves(exchange, route.required(), codecs, codec, false)) {
            return null;
        }
        boolean gzip = ContentCoding.isGzip("content-encoding", exchange.head().get(ConnectHeaders.CONTENT_ENCODING));
        int limit = exchange.connection().settings().maxMessageBytes();
        return new ConnectUnaryCall(
                codecs, exchange, route, codec.equals(ConnectAnswers.JSON), new WholeBody(limit, gzip), gzip);
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        ConnectAnswers.refuse(exchange, reason);
    }
}
