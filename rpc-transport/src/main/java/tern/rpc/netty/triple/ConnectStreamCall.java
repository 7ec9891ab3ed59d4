package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Status;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.serialization.MessageKind;
import tern.rpc.transport.ServiceLookup;

/** A Connect call with a stream of requests, of answers, or of both. */
final class ConnectStreamCall extends MessageCall {

    private final ConnectStreamForm form;

    /** @param gzip whether messages of the request may be compressed */
    ConnectStreamCall(ConnectStreamForm form, HttpExchange exchange, Route route, boolean gzip) {
        super(
                form.codecs(),
                exchange,
                route,
                new FramedBody(Framing.GRPC, exchange.connection().settings().maxRequestBytes(), gzip),
                ConnectHeaders.timeoutNanos(exchange.head()),
                ConnectHeaders.acceptsGzip(exchange.head(), ConnectHeaders.STREAM_ACCEPT_ENCODING, gzip));
        this.form = form;
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
        return readRequest(frame, form.isJson());
    }

    @Override
    byte[] message(MethodDescriptor method, @Nullable Object value, boolean compressed) {
        return codecs().frame(
                        maxResponseBytes(),
                        MessageKind.RESPONSE,
                        compressed,
                        out -> codecs().writeResponse(method, form.isJson(), value, out));
    }

    @Override
    Http2Headers head(Metadata headers, boolean compressed) {
        Http2Headers head = form.head(compressed);
        ConnectHeaders.write(headers, head::add);
        return head;
    }

    @Override
    HttpWrite end(@Nullable Http2Headers head, byte @Nullable [] message, @Nullable Status failure, Metadata trailers) {
        byte[] last = ConnectStreamForm.end(failure, trailers);
        return new HttpWrite(exchange(), head, message == null ? last : joined(message, last), null, true);
    }
}
