package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Status;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.serialization.MessageKind;
import tern.rpc.transport.ServiceLookup;

/** A gRPC-Web call. */
final class GrpcWebCall extends MessageCall {

    /** The flag of the frame with the trailers (gRPC-Web protocol, docs/wire-protocol.md 3.12). */
    private static final int TRAILERS = 0x80;

    private final GrpcWebForm form;
    private final boolean text;

    /** @param gzip whether messages of the request may be compressed */
    GrpcWebCall(GrpcWebForm form, HttpExchange exchange, Route route, boolean gzip, long timeoutNanos) {
        super(
                form.codecs(),
                exchange,
                route,
                body(form, exchange, gzip),
                timeoutNanos,
                ContentCoding.listsGzip(exchange.head(), GrpcHeaders.ACCEPT_ENCODING));
        this.form = form;
        this.text = form.answersText(exchange.head());
    }

    private static BodyReader body(GrpcWebForm form, HttpExchange exchange, boolean gzip) {
        BodyReader messages =
                new FramedBody(Framing.GRPC, exchange.connection().settings().maxRequestBytes(), gzip);
        return form.isText() ? new Base64Body(messages) : messages;
    }

    @Override
    public String protocol() {
        return "grpc-web";
    }

    /** The metadata without the headers of the browser's library. */
    @Override
    Metadata metadata() {
        Metadata metadata = TripleMetadata.read(exchange().head());
        metadata.remove("x-grpc-web");
        metadata.remove("x-user-agent");
        return metadata;
    }

    @Override
    Request readRequest(Frame frame, ServiceLookup services) {
        return readRequest(frame, form.isJson());
    }

    @Override
    byte[] message(MethodDescriptor method, @Nullable Object value, boolean compressed) {
        return travelling(codecs().frame(
                        maxResponseBytes(),
                        MessageKind.RESPONSE,
                        compressed,
                        out -> codecs().writeResponse(method, form.isJson(), value, out)));
    }

    /**
     * The frame as it is sent. In text mode every part is in base64 by itself, so that it can be decoded on arrival.
     */
    private byte[] travelling(byte[] frame) {
        return text ? Base64.getEncoder().encode(frame) : frame;
    }

    @Override
    Http2Headers head(Metadata headers, boolean compressed) {
        Http2Headers head = form.head(text, compressed);
        TripleMetadata.write(headers, head::add);
        return head;
    }

    @Override
    HttpWrite end(@Nullable Http2Headers head, byte @Nullable [] message, @Nullable Status failure, Metadata metadata) {
        Http2Headers trailers = GrpcHeaders.trailers(failure, metadata);
        if (head != null && failure != null) {
            return new HttpWrite(exchange(), head.setAll(trailers), null, null, true);
        }
        byte[] last = travelling(TripleCodecs.frame(TRAILERS, lines(trailers)));
        return new HttpWrite(exchange(), head, message == null ? last : joined(message, last), null, true);
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
