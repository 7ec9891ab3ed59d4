package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;

/**
 * The messages and answers of unary Connect calls. The headers depend on the result, so nothing is sent before the
 * result is known. Trailers are sent as headers whose names have a prefix. Stateless.
 *
 * @param json whether messages are JSON; otherwise they are protobuf
 */
record ConnectUnaryEncoding(TripleCodecs codecs, boolean json) implements ConnectEncoding {

    private static final String TRAILER = "trailer-";

    @Override
    public byte[] message(
            HttpExchange exchange,
            MethodDescriptor method,
            @Nullable PayloadCodec codec,
            @Nullable Object value,
            boolean compressed) {
        return codecs.bareAnswer(exchange, compressed, out -> codecs.writeResponse(method, json, value, out));
    }

    @Override
    public boolean holdsHeaders(Metadata headers) {
        // the headers are checked here, because otherwise the call would fail only at its end
        ConnectHeaders.write(headers, (name, value) -> {});
        return true;
    }

    @Override
    public Http2Headers head(HttpExchange exchange, Metadata headers, boolean compressed) {
        Http2Headers head = new DefaultHttp2Headers(false, 4 + headers.size());
        if (compressed) {
            head.set(ConnectHeaders.CONTENT_ENCODING, ConnectHeaders.GZIP);
        }
        ConnectHeaders.write(headers, head::add);
        return head;
    }

    @Override
    public HttpWrite end(
            HttpExchange exchange,
            @Nullable Http2Headers head,
            byte @Nullable [] message,
            @Nullable Failure failure,
            Metadata trailers) {
        Http2Headers whole = head == null ? new DefaultHttp2Headers(false, 4) : head;
        ConnectHeaders.write(trailers, (name, value) -> whole.add(TRAILER + name, value));
        byte[] body;
        if (failure != null) {
            body = ConnectError.body(failure.status());
            ConnectAnswers.failed(whole, StatusTable.httpStatus(failure.status().code()), body);
        } else {
            body = message == null ? new byte[0] : message;
            whole.status(GrpcHeaders.OK)
                    .set(GrpcHeaders.CONTENT_TYPE, json ? ConnectForm.JSON : ConnectForm.PROTO)
                    .setInt("content-length", body.length);
            if (HttpMethod.GET.asciiName().contentEquals(exchange.head().method())) {
                // "vary" makes caches store a separate answer for each accepted coding
                whole.add("vary", ConnectHeaders.ACCEPT_ENCODING);
            }
        }
        return new HttpWrite(exchange, whole, body, null, true);
    }
}
