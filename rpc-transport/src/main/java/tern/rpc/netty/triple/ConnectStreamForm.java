package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.Http2Headers;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.transport.ServiceLookup;

/**
 * The streaming variant of the Connect protocol, whose HTTP status is always 200 (docs/wire-protocol.md 7.1).
 * Stateless.
 */
final class ConnectStreamForm implements HttpForm {

    private final TripleCodecs codecs;
    private final String codec;
    private final ConnectStreamEncoding encoding;

    /** @param codec {@code json} or {@code proto} */
    ConnectStreamForm(TripleCodecs codecs, String codec) {
        this.codecs = codecs;
        this.codec = codec;
        this.encoding = new ConnectStreamEncoding(codecs, codec.equals(ConnectAnswers.JSON));
    }

    @Override
    public HttpCall call(HttpExchange exchange, ServiceLookup services) {
        Http2Headers head = exchange.head();
        ConnectHeaders.checkVersion(head);
        Route route = Route.of(services, head);
        MethodDescriptor method = route.required();
        ConnectAnswers.checkServes(method, codecs, codec, true);
        if (method.type() == MethodType.BIDI_STREAMING && !exchange.isHttp2()) {
            throw new PlainRefusal(
                    HttpResponseStatus.HTTP_VERSION_NOT_SUPPORTED, method + " streams both ways, which needs HTTP/2");
        }
        boolean gzip =
                ContentCoding.isGzip("connect-content-encoding", head.get(ConnectHeaders.STREAM_CONTENT_ENCODING));
        return call(exchange, route, gzip);
    }

    @Override
    public HttpCall callNowhere(HttpExchange exchange) {
        boolean gzip = ContentCoding.mayBeGzip(exchange.head().get(ConnectHeaders.STREAM_CONTENT_ENCODING));
        return call(exchange, Route.nowhere(exchange.head()), gzip);
    }

    private HttpCall call(HttpExchange exchange, Route route, boolean gzip) {
        Http2Headers head = exchange.head();
        return new HttpCall(
                encoding,
                exchange,
                route,
                new FramedBody(Framing.GRPC, exchange.maxRequestBytes(), gzip),
                ConnectHeaders.timeoutNanos(head),
                ConnectHeaders.acceptsGzip(head, ConnectHeaders.STREAM_ACCEPT_ENCODING, gzip));
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        if (reason instanceof PlainRefusal plain) {
            plain.answer(exchange);
            return;
        }
        byte[] end = ConnectStreamEncoding.end(reason.status(), new Metadata());
        exchange.send(new HttpWrite(exchange, encoding.head(false), end, null, true));
    }
}
