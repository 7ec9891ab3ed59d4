package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Status;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.MessageKind;
import tern.rpc.transport.ServiceLookup;

/**
 * A unary Connect call. Its head contains the result, so nothing is sent before. Trailers become headers with a prefix.
 */
final class ConnectUnaryCall extends MessageCall {

    private static final String TRAILER = "trailer-";

    private final boolean json;
    private volatile @Nullable Metadata early; // headers that the method sent before the answer

    /** @param gzip whether the request is compressed */
    ConnectUnaryCall(
            TripleCodecs codecs, HttpExchange exchange, Route route, boolean json, BodyReader body, boolean gzip) {
        super(
                codecs,
                exchange,
                route,
                body,
                ConnectHeaders.timeoutNanos(exchange.head()),
                ConnectHeaders.acceptsGzip(exchange.head(), ConnectHeaders.ACCEPT_ENCODING, gzip));
        this.json = json;
    }

    @Override
    public String protocol() {
        return "connect";
    }

    @Override
    Metadata metadata() {
        return ConnectHeaders.metadata(exchange().head());
    }

    @Override
    Request readRequest(Frame frame, ServiceLookup services) {
        return readRequest(frame, json);
    }

    @Override
    public void sendHeaders(Metadata headers) {
        if (early == null) {
            ConnectHeaders.write(headers, (name, value) -> {}); // fails now rather than at the end
            early = headers.copy();
        }
    }

    @Override
    byte[] message(MethodDescriptor method, @Nullable Object value, boolean compressed) {
        return codecs().bare(
                        maxResponseBytes(),
                        MessageKind.RESPONSE,
                        compressed,
                        out -> codecs().writeResponse(method, json, value, out));
    }

    @Override
    Http2Headers head(Metadata headers, boolean compressed) {
        Http2Headers head = new DefaultHttp2Headers(false, 4 + headers.size());
        if (compressed) {
            head.set(ConnectHeaders.CONTENT_ENCODING, ConnectHeaders.GZIP);
        }
        Metadata sooner = early;
        ConnectHeaders.write(sooner == null ? headers : sooner, head::add);
        return head;
    }

    @Override
    HttpWrite end(@Nullable Http2Headers head, byte @Nullable [] message, @Nullable Status failure, Metadata trailers) {
        Http2Headers whole = head == null ? new DefaultHttp2Headers(false, 4) : head;
        ConnectHeaders.write(trailers, (name, value) -> whole.add(TRAILER + name, value));
        byte[] body;
        if (failure != null) {
            body = ConnectError.body(failure);
            ConnectAnswers.failed(whole, StatusTable.httpStatus(failure.code()), body);
        } else {
            body = message == null ? new byte[0] : message;
            whole.status(GrpcHeaders.OK)
                    .set(GrpcHeaders.CONTENT_TYPE, json ? ConnectForm.JSON : ConnectForm.PROTO)
                    .setInt("content-length", body.length);
            if (HttpMethod.GET.asciiName().contentEquals(exchange().head().method())) {
                whole.add("vary", ConnectHeaders.ACCEPT_ENCODING); // the answer may be cached
            }
        }
        return new HttpWrite(exchange(), whole, body, null, true);
    }
}
