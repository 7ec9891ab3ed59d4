package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.Status;

/**
 * The messages and answers of streaming Connect calls. Each message has an envelope, and the last envelope contains the
 * result. Stateless.
 *
 * @param json whether messages are JSON; otherwise they are protobuf
 */
record ConnectStreamEncoding(TripleCodecs codecs, boolean json) implements ConnectEncoding {

    static final AsciiString PROTO = AsciiString.cached("application/connect+proto");
    static final AsciiString JSON = AsciiString.cached("application/connect+json");

    /** The flag of the last envelope (docs/wire-protocol.md 7.1, from the Connect protocol reference). */
    private static final int END = 0x02;

    @Override
    public byte[] message(
            HttpExchange exchange,
            MethodDescriptor method,
            @Nullable PayloadCodec codec,
            @Nullable Object value,
            boolean compressed) {
        return codecs.answerFrame(exchange, compressed, out -> codecs.writeResponse(method, json, value, out));
    }

    Http2Headers head(boolean compressed) {
        Http2Headers head = new DefaultHttp2Headers(false, 4)
                .status(GrpcHeaders.OK)
                .set(GrpcHeaders.CONTENT_TYPE, json ? JSON : PROTO)
                .set(ConnectHeaders.STREAM_ACCEPT_ENCODING, ConnectHeaders.GZIP);
        if (compressed) {
            head.set(ConnectHeaders.STREAM_CONTENT_ENCODING, ConnectHeaders.GZIP);
        }
        return head;
    }

    @Override
    public Http2Headers head(HttpExchange exchange, Metadata headers, boolean compressed) {
        Http2Headers head = head(compressed);
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
        byte[] last = end(failure == null ? null : failure.status(), trailers);
        return new HttpWrite(exchange, head, message == null ? last : TripleCodecs.joined(message, last), null, true);
    }

    /**
     * Encodes the last envelope of an answer.
     *
     * @param failure null for success
     * @throws RpcException if the metadata cannot be sent
     */
    static byte[] end(@Nullable Status failure, Metadata trailers) {
        return TripleCodecs.frame(END, ConnectError.endOfStream(failure, trailers));
    }
}
