package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.transport.ServiceLookup;

/** The messages and answers of gRPC-Web calls. Stateless. */
final class GrpcWebEncoding implements CallEncoding {

    static final String BINARY = "application/grpc-web";
    static final String TEXT = "application/grpc-web-text";

    /** The flag of the frame that contains the trailers (docs/wire-protocol.md 3.12, from the gRPC-Web protocol). */
    private static final int TRAILERS = 0x80;

    private final TripleCodecs codecs;
    private final String suffix;
    private final boolean text;

    /**
     * @param suffix the suffix of the content type: {@code +json}, {@code +proto} or empty
     * @param text whether answers are sent in base64
     */
    GrpcWebEncoding(TripleCodecs codecs, String suffix, boolean text) {
        this.codecs = codecs;
        this.suffix = suffix;
        this.text = text;
    }

    /** Returns whether the messages of this encoding are JSON; otherwise they are protobuf. */
    boolean isJson() {
        return suffix.equals("+json");
    }

    @Override
    public String protocol() {
        return "grpc-web";
    }

    /** Returns the application metadata without the headers that the browser's client library has added. */
    @Override
    public Metadata metadata(Http2Headers head) {
        Metadata metadata = TripleMetadata.read(head);
        metadata.remove("x-grpc-web");
        metadata.remove("x-user-agent");
        return metadata;
    }

    @Override
    public DecodedRequest readRequest(HttpExchange exchange, Route route, Frame frame, ServiceLookup services) {
        return DecodedRequest.named(codecs, exchange, route, frame, isJson());
    }

    @Override
    public byte[] message(
            HttpExchange exchange,
            MethodDescriptor method,
            @Nullable PayloadCodec codec,
            @Nullable Object value,
            boolean compressed) {
        return travelling(
                codecs.answerFrame(exchange, compressed, out -> codecs.writeResponse(method, isJson(), value, out)));
    }

    /**
     * Encodes a frame for sending. In text mode, each frame is encoded in base64 separately, so that the client can
     * decode it as soon as it arrives.
     */
    private byte[] travelling(byte[] frame) {
        return text ? Base64.getEncoder().encode(frame) : frame;
    }

    Http2Headers head(boolean compressed) {
        Http2Headers head = new DefaultHttp2Headers(false, 4)
                .status(GrpcHeaders.OK)
                .set(GrpcHeaders.CONTENT_TYPE, (text ? TEXT : BINARY) + suffix);
        if (compressed) {
            head.set(GrpcHeaders.ENCODING, GrpcHeaders.GZIP);
        }
        return head;
    }

    @Override
    public Http2Headers head(HttpExchange exchange, Metadata headers, boolean compressed) {
        Http2Headers head = head(compressed);
        TripleMetadata.write(headers, head::add);
        return head;
    }

    @Override
    public HttpWrite end(
            HttpExchange exchange,
            @Nullable Http2Headers head,
            byte @Nullable [] message,
            @Nullable Failure failure,
            Metadata metadata) {
        Http2Headers trailers = GrpcHeaders.trailers(failure == null ? null : failure.status(), metadata);
        if (head != null && failure != null) {
            return new HttpWrite(exchange, head.setAll(trailers), null, null, true);
        }
        byte[] last = travelling(TripleCodecs.frame(TRAILERS, lines(trailers)));
        return new HttpWrite(exchange, head, message == null ? last : TripleCodecs.joined(message, last), null, true);
    }

    private static byte[] lines(Http2Headers trailers) {
        StringBuilder lines = new StringBuilder();
        for (Map.Entry<CharSequence, CharSequence> trailer : trailers) {
            lines.append(trailer.getKey())
                    .append(':')
                    .append(trailer.getValue())
                    .append("\r\n");
        }
        return lines.toString().getBytes(StandardCharsets.ISO_8859_1);
    }
}
