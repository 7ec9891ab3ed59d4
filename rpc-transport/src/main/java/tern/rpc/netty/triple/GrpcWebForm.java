package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.HashMap;
import java.util.Map;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Payload;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.transport.ServiceLookup;

/**
 * gRPC-Web (docs/wire-protocol.md 3.12): gRPC for clients that cannot read trailers. The last frame of the body
 * contains the trailers. Clients that cannot read binary data use base64. Stateless.
 */
final class GrpcWebForm implements HttpForm {

    private final TripleCodecs codecs;
    private final boolean text;
    private final GrpcWebEncoding inBytes;
    private final GrpcWebEncoding inText;

    /** @param text whether requests are encoded in base64 */
    private GrpcWebForm(TripleCodecs codecs, String suffix, boolean text) {
        this.codecs = codecs;
        this.text = text;
        this.inBytes = new GrpcWebEncoding(codecs, suffix, false);
        this.inText = new GrpcWebEncoding(codecs, suffix, true);
    }

    /** Creates one form for each content type of gRPC-Web. The keys of the map are the content types. */
    static Map<AsciiString, GrpcWebForm> all(TripleCodecs codecs) {
        Map<AsciiString, GrpcWebForm> all = new HashMap<>();
        for (String suffix : new String[] {"", "+proto", "+json"}) {
            all.put(AsciiString.of(GrpcWebEncoding.BINARY + suffix), new GrpcWebForm(codecs, suffix, false));
            all.put(AsciiString.of(GrpcWebEncoding.TEXT + suffix), new GrpcWebForm(codecs, suffix, true));
        }
        return all;
    }

    /** Returns the encoding of answers. Answers use base64 if the request uses base64 or the caller asks for base64. */
    private GrpcWebEncoding encoding(Http2Headers request) {
        CharSequence accepted = request.get("accept");
        return text || (accepted != null && AsciiString.of(accepted).startsWith(GrpcWebEncoding.TEXT))
                ? inText
                : inBytes;
    }

    @Override
    public HttpCall call(HttpExchange exchange, ServiceLookup services) {
        Http2Headers head = exchange.head();
        Route route = Route.of(services, head);
        MethodDescriptor method = route.required();
        if (!codecs.serves(method, inBytes.isJson())) {
            throw unimplemented(method
                    + (method.payload() == Payload.JAVA
                            ? " takes no protobuf; in gRPC-Web, call it with " + GrpcWebEncoding.BINARY + "+json"
                            : " takes bytes, which have no JSON form; call it with " + GrpcWebEncoding.BINARY));
        }
        if (method.type() == MethodType.BIDI_STREAMING && !exchange.isHttp2()) {
            throw unimplemented(method + " streams both ways, which needs HTTP/2");
        }
        boolean gzip = ContentCoding.isGzip("grpc-encoding", head.get(GrpcHeaders.ENCODING));
        return call(exchange, route, gzip);
    }

    @Override
    public HttpCall callNowhere(HttpExchange exchange) {
        Http2Headers head = exchange.head();
        boolean gzip = ContentCoding.mayBeGzip(head.get(GrpcHeaders.ENCODING));
        return call(exchange, Route.nowhere(head), gzip);
    }

    private HttpCall call(HttpExchange exchange, Route route, boolean gzip) {
        Http2Headers head = exchange.head();
        BodyReader messages = new FramedBody(Framing.GRPC, exchange.maxRequestBytes(), gzip);
        return new HttpCall(
                encoding(head),
                exchange,
                route,
                text ? new Base64Body(messages) : messages,
                GrpcHeaders.timeoutNanos(head),
                ContentCoding.listsGzip(head, GrpcHeaders.ACCEPT_ENCODING));
    }

    private static RpcException unimplemented(String description) {
        return RpcException.refusal(StatusCode.UNIMPLEMENTED, description, Executed.NO);
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        Http2Headers head = encoding(exchange.head()).head(false);
        GrpcHeaders.addStatus(head, reason.status());
        if (exchange.head().contains(GrpcHeaders.ENCODING)) {
            head.set(GrpcHeaders.ACCEPT_ENCODING, GrpcHeaders.ENCODINGS);
        }
        exchange.send(new HttpWrite(exchange, head, null, null, true));
    }
}
