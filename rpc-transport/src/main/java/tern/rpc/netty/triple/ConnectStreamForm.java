package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.Status;
import tern.rpc.transport.ServiceLookup;

/**
 * Streaming Connect: messages in envelopes, the last of which contains the result. The HTTP status is always 200
 * (docs/wire-protocol.md 7.1). Stateless.
 */
final class ConnectStreamForm implements HttpForm {

    static final AsciiString PROTO = AsciiString.cached("application/connect+proto");
    static final AsciiString JSON = AsciiString.cached("application/connect+json");

    /** The flag of the last envelope (Connect protocol reference, docs/wire-protocol.md 7.1). */
    private static final int END = 0x02;

    private final TripleCodecs codecs;
    private final String codec;

    /** @param codec {@code json} or {@code proto} */
    ConnectStreamForm(TripleCodecs codecs, String codec) {
        this.codecs = codecs;
        this.codec = codec;
    }

    TripleCodecs codecs() {
        return codecs;
    }

    boolean isJson() {
        return codec.equals(ConnectAnswers.JSON);
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
        return new ConnectStreamCall(this, exchange, route, gzip);
    }

    @Override
    public HttpCall callNowhere(HttpExchange exchange) {
        boolean gzip = ContentCoding.mayBeGzip(exchange.head().get(ConnectHeaders.STREAM_CONTENT_ENCODING));
        return new ConnectStreamCall(this, exchange, Route.nowhere(exchange.head()), gzip);
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        if (reason instanceof PlainRefusal plain) {
            plain.answer(exchange);
            return;
        }
        exchange.send(new HttpWrite(exchange, head(false), end(reason.status(), new Metadata()), null, true));
    }

    /** The head of an answer. */
    Http2Headers head(boolean compressed) {
        Http2Headers head = new DefaultHttp2Headers(false, 4)
                .status(GrpcHeaders.OK)
                .set(GrpcHeaders.CONTENT_TYPE, isJson() ? JSON : PROTO)
                .set(ConnectHeaders.STREAM_ACCEPT_ENCODING, ConnectHeaders.GZIP);
        if (compressed) {
            head.set(ConnectHeaders.STREAM_CONTENT_ENCODING, ConnectHeaders.GZIP);
        }
        return head;
    }

    /**
     * The last envelope of an answer.
     *
     * @param failure null for success
     * @throws RpcException if the metadata cannot be sent
     */
    static byte[] end(@Nullable Status failure, Metadata trailers) {
        return TripleCodecs.frame(END, ConnectError.endOfStream(failure, trailers));
    }
}
