package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
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
import tern.rpc.transport.ServiceLookup;

/**
 * gRPC-Web (docs/wire-protocol.md 3.12): gRPC for clients that cannot read trailers. A frame at the end of the body
 * contains them. Base64 serves clients that cannot read bytes either. Stateless.
 */
final class GrpcWebForm implements HttpForm {

    private static final String BINARY = "application/grpc-web";
    private static final String TEXT = "application/grpc-web-text";

    private final TripleCodecs codecs;
    private final String suffix;
    private final boolean text;

    private GrpcWebForm(TripleCodecs codecs, String suffix, boolean text) {
        this.codecs = codecs;
        this.suffix = suffix;
        this.text = text;
    }

    /** One instance for each content type. */
    static Map<AsciiString, GrpcWebForm> all(TripleCodecs codecs) {
        Map<AsciiString, GrpcWebForm> all = new HashMap<>();
        for (String suffix : new String[] {"", "+proto", "+json"}) {
            all.put(AsciiString.of(BINARY + suffix), new GrpcWebForm(codecs, suffix, false));
            all.put(AsciiString.of(TEXT + suffix), new GrpcWebForm(codecs, suffix, true));
        }
        return all;
    }

    TripleCodecs codecs() {
        return codecs;
    }

    boolean isJson() {
        return suffix.equals("+json");
    }

    /** Whether requests are in base64. */
    boolean isText() {
        return text;
    }

    /** Whether answers to such a request are in base64. */
    boolean answersText(Http2Headers request) {
        CharSequence accepted = request.get("accept");
        return text || (accepted != null && AsciiString.of(accepted).startsWith(TEXT));
    }

    @Override
    public HttpCall call(HttpExchange exchange, ServiceLookup services) {
        Http2Headers head = exchange.head();
        Route route = Route.of(services, head);
        MethodDescriptor method = route.required();
        if (!codecs.serves(method, isJson())) {
            throw unimplemented(method
                    + (method.payload() == Payload.JAVA
                            ? " takes no protobuf; in gRPC-Web it is called with " + BINARY + "+json"
                            : " takes bytes, which have no JSON; it is called with " + BINARY));
        }
        if (method.type() == MethodType.BIDI_STREAMING && !exchange.isHttp2()) {
            throw unimplemented(method + " streams both ways, which needs HTTP/2");
        }
        boolean gzip = ContentCoding.isGzip("grpc-encoding", head.get(GrpcHeaders.ENCODING));
        return new GrpcWebCall(this, exchange, route, gzip, GrpcHeaders.timeoutNanos(head));
    }

    @Override
    public HttpCall callNowhere(HttpExchange exchange) {
        Http2Headers head = exchange.head();
        boolean gzip = ContentCoding.mayBeGzip(head.get(GrpcHeaders.ENCODING));
        return new GrpcWebCall(this, exchange, Route.nowhere(head), gzip, GrpcHeaders.timeoutNanos(head));
    }

    private static RpcException unimplemented(String description) {
        return RpcException.refusal(StatusCode.UNIMPLEMENTED, description, Executed.NO);
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        Http2Headers head = head(answersText(exchange.head()), false);
        GrpcHeaders.addStatus(head, reason.status());
        if (exchange.head().contains(GrpcHeaders.ENCODING)) {
            head.set(GrpcHeaders.ACCEPT_ENCODING, GrpcHeaders.ENCODINGS);
        }
        exchange.send(new HttpWrite(exchange, head, null, null, true));
    }

    /** The head of an answer. */
    Http2Headers head(boolean asText, boolean compressed) {
        Http2Headers head = new DefaultHttp2Headers(false, 4)
                .status(GrpcHeaders.OK)
                .set(GrpcHeaders.CONTENT_TYPE, (asText ? TEXT : BINARY) + suffix);
        if (compressed) {
            head.set(GrpcHeaders.ENCODING, GrpcHeaders.GZIP);
        }
        return head;
    }
}
