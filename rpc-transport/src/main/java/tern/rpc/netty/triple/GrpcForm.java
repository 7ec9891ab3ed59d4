package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.transport.ServiceLookup;

/** gRPC on HTTP/2, including Triple: framed messages and trailers (docs/wire-protocol.md 3). Stateless. */
final class GrpcForm implements HttpForm {

    private final TripleCodecs codecs;
    private final boolean json;
    private final AsciiString contentType;
    private final Routes<Route> routes = new Routes<>(Route::of);

    GrpcForm(TripleCodecs codecs, boolean json) {
        this(codecs, json, json ? GrpcHeaders.GRPC_JSON : GrpcHeaders.GRPC);
    }

    /** @param contentType the content type of answers */
    GrpcForm(TripleCodecs codecs, boolean json, AsciiString contentType) {
        this.codecs = codecs;
        this.json = json;
        this.contentType = contentType;
    }

    TripleCodecs codecs() {
        return codecs;
    }

    /** Whether messages are JSON instead of protobuf or wrappers. */
    boolean isJson() {
        return json;
    }

    @Override
    public HttpCall call(HttpExchange exchange, ServiceLookup services) {
        Http2Headers head = exchange.head();
        Route route = routes.of(services, head);
        return new GrpcServerCall(
                this,
                exchange,
                route,
                ContentCoding.isGzip("grpc-encoding", head.get(GrpcHeaders.ENCODING)),
                GrpcHeaders.timeoutNanos(head));
    }

    @Override
    public HttpCall callNowhere(HttpExchange exchange) {
        Http2Headers head = exchange.head();
        return new GrpcServerCall(
                this,
                exchange,
                Route.nowhere(head),
                ContentCoding.mayBeGzip(head.get(GrpcHeaders.ENCODING)),
                GrpcHeaders.timeoutNanos(head));
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        Http2Headers head = head(false);
        GrpcHeaders.addStatus(head, reason.status());
        GrpcHeaders.tellExecuted(head, Executed.NO);
        if (exchange.head().contains(GrpcHeaders.ENCODING)) {
            head.set(GrpcHeaders.ACCEPT_ENCODING, GrpcHeaders.ENCODINGS);
        }
        exchange.send(new HttpWrite(exchange, null, null, head, true));
    }

    /** The content type of messages and of complete answers. */
    AsciiString contentType() {
        return contentType;
    }

    /** The head of an answer. */
    Http2Headers head(boolean compressed) {
        Http2Headers head = GrpcHeaders.head(contentType());
        if (compressed) {
            head.set(GrpcHeaders.ENCODING, GrpcHeaders.GZIP);
        }
        return head;
    }
}
