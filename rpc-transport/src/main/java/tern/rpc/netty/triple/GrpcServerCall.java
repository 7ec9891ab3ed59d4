package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Payload;
import tern.rpc.RpcException;
import tern.rpc.Status;
import tern.rpc.Thrown;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.serialization.MessageKind;
import tern.rpc.transport.ServiceLookup;

/** A gRPC call. */
final class GrpcServerCall extends MessageCall {

    private static final Logger LOG = LoggerFactory.getLogger(GrpcServerCall.class);

    private final GrpcForm form;
    private volatile @Nullable PayloadCodec payload; // codec of the request, used for its answers

    GrpcServerCall(GrpcForm form, HttpExchange exchange, Route route, boolean compressed, long timeoutNanos) {
        super(
                form.codecs(),
                exchange,
                route,
                new FramedBody(Framing.GRPC, exchange.connection().settings().maxRequestBytes(), compressed),
                timeoutNanos,
                ContentCoding.listsGzip(exchange.head(), GrpcHeaders.ACCEPT_ENCODING));
        this.form = form;
    }

    @Override
    public String protocol() {
        return "tri";
    }

    @Override
    Metadata metadata() {
        return TripleMetadata.read(exchange().head());
    }

    @Override
    String readGenericMethod(Frame frame) {
        return read(frame, (bytes, length) -> codecs().payloads().firstText(bytes, 0, length));
    }

    @Override
    Request readRequest(Frame frame, ServiceLookup services) {
        if (form.isJson()) {
            return readRequest(frame, true);
        }
        return read(frame, (bytes, length) -> {
            PayloadCodecs.Request read = readPayload(bytes, length, services);
            payload = read.codec();
            return new Request(read.method(), read.arguments());
        });
    }

    private PayloadCodecs.Request readPayload(byte[] bytes, int length, ServiceLookup services) {
        MethodDescriptor only = route().only();
        if (only != null
                && only.payload() == Payload.JAVA
                && only.service() == route().service() // not a built-in method
                && ValueMessages.isRequest(bytes, 0, length, only.parameters().size())) {
            ValueCodec codec =
                    new ValueCodec(only, codecs().json(only), connection().settings());
            return new PayloadCodecs.Request(only, codec.readRequest(bytes, 0, length), codec);
        }
        return codecs().payloads().readRequest(services, route().service(), route().candidates(), bytes, 0, length);
    }

    @Override
    byte[] message(MethodDescriptor method, @Nullable Object value, boolean compressed) {
        PayloadCodec known = payload;
        return codecs().frame(maxResponseBytes(), MessageKind.RESPONSE, compressed, out -> {
            if (known != null) {
                known.writeResponse(value, out);
            } else {
                codecs().writeResponse(method, form.isJson(), value, out);
            }
        });
    }

    @Override
    Http2Headers head(Metadata headers, boolean compressed) {
        Http2Headers head = form.head(compressed);
        TripleMetadata.write(headers, head::add);
        return head;
    }

    @Override
    HttpWrite plain(byte[] message) {
        return HttpWrite.plain(exchange(), form.contentType(), message);
    }

    @Override
    HttpWrite end(@Nullable Http2Headers head, byte @Nullable [] message, @Nullable Status failure, Metadata metadata) {
        Http2Headers trailers = GrpcHeaders.trailers(failure, metadata);
        if (failure != null) {
            GrpcHeaders.tellExecuted(trailers, executed());
        }
        if (head != null && failure != null) {
            return new HttpWrite(exchange(), null, null, head.setAll(trailers), true);
        }
        return new HttpWrite(exchange(), head, message, trailers, true);
    }

    @Override
    void answerFailure(Throwable failure, Metadata metadata) {
        if (!(failure instanceof RpcException) && payload instanceof WrapperCodec wrapper && isUnary()) {
            try {
                if (sendWhole(exception(wrapper, failure, metadata))) {
                    return;
                }
            } catch (Throwable e) {
                Thrown.log(e, shown -> LOG.debug("An exception cannot be sent as it is", shown));
            }
        }
        super.answerFailure(failure, metadata);
    }

    private boolean isUnary() {
        MethodDescriptor method = method();
        return method != null && method.type() == MethodType.UNARY;
    }

    /**
     * Answers with a Java exception. Callers of Triple expect a marked answer (docs/wire-protocol.md 3.6); callers of
     * plain gRPC do not know the mark.
     */
    private HttpWrite exception(WrapperCodec wrapper, Throwable failure, Metadata metadata) {
        byte[] message = codecs().frame(
                        maxResponseBytes(),
                        MessageKind.RESPONSE,
                        false,
                        out -> wrapper.writeException(failure, codecs().exceptionFrames(), out));
        Http2Headers head = form.head(false).set(GrpcHeaders.EXCEPTION, GrpcHeaders.BUSINESS);
        return new HttpWrite(exchange(), head, message, GrpcHeaders.trailers(null, metadata), true);
    }
}
