package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Payload;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.transport.ServiceLookup;
import tern.rpc.transport.UntypedExceptions;

/**
 * gRPC over HTTP/2, including Triple: messages with a prefix, and trailers (docs/wire-protocol.md 3). The form creates
 * the calls, and encodes their messages and answers. Stateless.
 */
final class GrpcForm implements HttpForm, CallEncoding {

    private final TripleCodecs codecs;
    private final boolean json;
    private final AsciiString contentType;
    private final Routes<Route> routes = new Routes<>(Route::of);

    /** @param json whether messages are JSON; otherwise they are protobuf or Triple's wrappers */
    GrpcForm(TripleCodecs codecs, boolean json) {
        this(codecs, json, json ? GrpcHeaders.GRPC_JSON : GrpcHeaders.GRPC);
    }

    /**
     * @param json whether messages are JSON; otherwise they are protobuf or Triple's wrappers
     * @param contentType the content type of answers
     */
    GrpcForm(TripleCodecs codecs, boolean json, AsciiString contentType) {
        this.codecs = codecs;
        this.json = json;
        this.contentType = contentType;
    }

    // ---- call creation

    @Override
    public HttpCall call(HttpExchange exchange, ServiceLookup services) {
        Http2Headers head = exchange.head();
        Route route = routes.of(services, head);
        return call(exchange, route, ContentCoding.isGzip("grpc-encoding", head.get(GrpcHeaders.ENCODING)));
    }

    @Override
    public HttpCall callNowhere(HttpExchange exchange) {
        Http2Headers head = exchange.head();
        return call(exchange, Route.nowhere(head), ContentCoding.mayBeGzip(head.get(GrpcHeaders.ENCODING)));
    }

    private HttpCall call(HttpExchange exchange, Route route, boolean gzip) {
        Http2Headers head = exchange.head();
        return new HttpCall(
                this,
                exchange,
                route,
                new FramedBody(Framing.GRPC, exchange.maxRequestBytes(), gzip),
                GrpcHeaders.timeoutNanos(head),
                ContentCoding.listsGzip(head, GrpcHeaders.ACCEPT_ENCODING));
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        Http2Headers head = head(false);
        GrpcHeaders.addStatus(head, reason.status());
        GrpcHeaders.addExecuted(head, Executed.NO);
        if (exchange.head().contains(GrpcHeaders.ENCODING)) {
            head.set(GrpcHeaders.ACCEPT_ENCODING, GrpcHeaders.ENCODINGS);
        }
        exchange.send(new HttpWrite(exchange, null, null, head, true));
    }

    // ---- request decoding

    @Override
    public String protocol() {
        return "tri";
    }

    @Override
    public Metadata metadata(Http2Headers head) {
        return TripleMetadata.read(head);
    }

    @Override
    public String readGenericMethod(HttpExchange exchange, Route route, Frame frame) {
        return codecs.readRequest(
                frame,
                exchange.maxRequestBytes(),
                exchange.connection(),
                (bytes, length) -> codecs.payloads()
                        .firstText(bytes, length, exchange.connection().network()));
    }

    @Override
    public DecodedRequest readRequest(HttpExchange exchange, Route route, Frame frame, ServiceLookup services) {
        if (json) {
            return DecodedRequest.named(codecs, exchange, route, frame, true);
        }
        return codecs.readFirst(frame, exchange.maxRequestBytes(), exchange.connection(), (bytes, length) -> {
            MethodDescriptor only = route.only();
            if (only != null && isValue(only, route, bytes, length)) {
                ValueCodec codec = new ValueCodec(
                        only, codecs.json(only), exchange.connection().settings());
                return new DecodedRequest(only, values(codec, route, bytes, length), codec);
            }
            Object sender = exchange.connection().network();
            return codecs.payloads().readRequest(services, route.service(), route.candidates(), bytes, length, sender);
        });
    }

    private static Object[] values(ValueCodec codec, Route route, byte[] bytes, int length) {
        try {
            return codec.readRequest(bytes, 0, length);
        } catch (PlainProtobufException e) {
            throw PayloadCodecs.plainProtobuf(route.service(), route.candidates());
        }
    }

    private static boolean isValue(MethodDescriptor only, Route route, byte[] bytes, int length) {
        return only.payload() == Payload.JAVA
                // a built-in method, such as echo, does not belong to the called service
                && only.service() == route.service()
                && ValueMessages.isRequest(bytes, 0, length, only.parameters().size());
    }

    // ---- answer encoding

    @Override
    public byte[] message(
            HttpExchange exchange,
            MethodDescriptor method,
            @Nullable PayloadCodec codec,
            @Nullable Object value,
            boolean compressed) {
        return codecs.answerFrame(exchange, compressed, out -> {
            if (codec != null) {
                codec.writeResponse(value, out);
            } else {
                codecs.writeResponse(method, json, value, out);
            }
        });
    }

    Http2Headers head(boolean compressed) {
        Http2Headers head = GrpcHeaders.head(contentType);
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
    public HttpWrite plain(HttpExchange exchange, byte[] message) {
        return HttpWrite.plain(exchange, contentType, message);
    }

    @Override
    public HttpWrite end(
            HttpExchange exchange,
            @Nullable Http2Headers head,
            byte @Nullable [] message,
            @Nullable Failure failure,
            Metadata metadata) {
        Http2Headers trailers = GrpcHeaders.trailers(failure == null ? null : failure.status(), metadata);
        if (failure != null) {
            GrpcHeaders.addExecuted(trailers, failure.executed());
        }
        if (head != null && failure != null) {
            return new HttpWrite(exchange, null, null, head.setAll(trailers), true);
        }
        return new HttpWrite(exchange, head, message, trailers, true);
    }

    /**
     * Answers a unary call with a Java exception. Triple clients need a header that marks the message as an exception
     * (docs/wire-protocol.md 3.6). Plain gRPC clients do not read this header, so they receive only a status code and a
     * message.
     */
    @Override
    public @Nullable HttpWrite wholeFailure(
            HttpExchange exchange,
            @Nullable MethodDescriptor method,
            @Nullable PayloadCodec codec,
            Throwable failure,
            Metadata metadata) {
        boolean unary = method != null && method.type() == MethodType.UNARY;
        if (!unary || failure instanceof RpcException || !(codec instanceof WrapperCodec wrapper)) {
            return null;
        }
        try {
            byte[] message = codecs.answerFrame(
                    exchange, false, out -> wrapper.writeException(failure, codecs.exceptionFrames(), out));
            Http2Headers head = head(false).set(GrpcHeaders.EXCEPTION, GrpcHeaders.BUSINESS);
            return new HttpWrite(exchange, head, message, GrpcHeaders.trailers(null, metadata), true);
        } catch (Throwable e) {
            UntypedExceptions.warn(failure, e);
            return null;
        }
    }
}
