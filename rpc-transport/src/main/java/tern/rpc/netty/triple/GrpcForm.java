package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.transport.ServiceLookup;

/** gRPC over HTTP/2, including Triple: messages with a prefix, and trailers (docs/wire-protocol.md 3). Stateless. */
final class GrpcForm implements HttpForm {

    private final GrpcEncoding encoding;
    private final Routes<Route> routes = new Routes<>(Route::of);

    GrpcForm(TripleCodecs codecs, boolean json) {
        this(codecs, json, json ? GrpcHeaders.GRPC_JSON : GrpcHeaders.GRPC);
    }

    /** @param contentType the content type of answers */
    GrpcForm(TripleCodecs codecs, boolean json, AsciiString contentType) {
        this.encoding = new GrpcEncoding(codecs, json, contentType);
    }

    @Override
    public HttpCall call(HttpExchange exchange, ServiceLookup services) {
        Http2Headers head = exchange.head();
        Route route = routes.of(services, head);
        return call(exchange, route, ContentCoding.isGzip("grpc-encoding", head.get(GrpcHeaders.ENCODING)));
    }

    @Override
    public HttpCall callNowhere(HttpExchange exchange) {
        Http2Headers head = exchange.head();
        return call(exchange, Route.nowhere(head), ContentCoding.mayBeGzip(head.get(GrpcHeaders.ENCODING)));
    }

    private HttpCall call(HttpExchange exchange, Route route, boolean gzip) {
        Http2Headers head = exchange.head();
        return new HttpCall(
                encoding,
                exchange,
                route,
                new FramedBody(Framing.GRPC, exchange.maxRequestBytes(), gzip),
                GrpcHeaders.timeoutNanos(head),
                ContentCoding.listsGzip(head, GrpcHeaders.ACCEPT_ENCODING));
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        Http2Headers head = encoding.head(false);
        GrpcHeaders.addStatus(head, reason.status());
        GrpcHeaders.tellExecuted(head, Executed.NO);
        if (exchange.head().contains(GrpcHeaders.ENCODING)) {
            head.set(GrpcHeaders.ACCEPT_ENCODING, GrpcHeaders.ENCODINGS);
        }
        exchange.send(new HttpWrite(exchange, null, null, head, true));
    }
}
