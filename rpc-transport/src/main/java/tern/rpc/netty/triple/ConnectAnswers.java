package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.transport.ServiceLookup;

/** What Connect answers to a request that becomes no call: errors of its own, and statuses of HTTP alone. */
final class ConnectAnswers {

    static final String JSON = "json";
    static final String PROTO = "proto";

    private static final AsciiString CONTENT_LENGTH = AsciiString.cached("content-length");

    private ConnectAnswers() {}

    /**
     * The method that a request names.
     *
     * @return null if there is none, which was answered
     * @throws RpcException INVALID_ARGUMENT for another version of Connect
     */
    static @Nullable Route route(HttpExchange exchange, ServiceLookup services) {
        ConnectHeaders.checkVersion(exchange.head());
        try {
            return Route.of(services, exchange.head());
        } catch (RpcException e) {
            if (e.status().code() != StatusCode.UNIMPLEMENTED) {
                throw e;
            }
            // A path that leads nowhere is 404; 501 is the answer of a method (Connect conformance, unexpected-uri).
            refuse(exchange, HttpResponseStatus.NOT_FOUND.code(), e.status());
            return null;
        }
    }

    /**
     * Whether a method can be called so; if not, that was answered.
     *
     * @param codec {@code json} or {@code proto}
     * @param streaming whether messages are in envelopes
     */
    static boolean serves(
            HttpExchange exchange, MethodDescriptor method, TripleCodecs codecs, String codec, boolean streaming) {
        boolean json = codec.equals(JSON);
        if (streaming != (method.type() == MethodType.UNARY)
                && (json || codec.equals(PROTO))
                && codecs.serves(method, json)) {
            return true;
        }
        String accepted = String.join(", ", contentTypes(method, codecs));
        PlainAnswer.send(
                exchange,
                HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE,
                method + " takes " + accepted,
                "accept-post",
                accepted);
        return false;
    }

    private static List<String> contentTypes(MethodDescriptor method, TripleCodecs codecs) {
        String prefix = method.type() == MethodType.UNARY ? "application/" : "application/connect+";
        List<String> types = new ArrayList<>();
        for (boolean json : new boolean[] {false, true}) {
            if (codecs.serves(method, json)) {
                types.add(prefix + (json ? JSON : PROTO));
            }
        }
        return types;
    }

    /** Answers with an error in the form of a call with one message each way. */
    static void refuse(HttpExchange exchange, RpcException reason) {
        refuse(exchange, StatusTable.httpStatus(reason.status().code()), reason.status());
    }

    private static void refuse(HttpExchange exchange, int httpStatus, Status status) {
        byte[] body = ConnectError.body(status);
        Http2Headers head = failed(new DefaultHttp2Headers(false, 4), httpStatus, body);
        if (status.code() == StatusCode.UNIMPLEMENTED) {
            head.set(ConnectHeaders.ACCEPT_ENCODING, ConnectHeaders.GZIP);
        }
        exchange.send(new HttpWrite(exchange, head, body, null, true));
    }

    /** Makes the head that of an error. */
    static Http2Headers failed(Http2Headers head, int httpStatus, byte[] body) {
        return head.status(HttpResponseStatus.valueOf(httpStatus).codeAsText())
                .set(GrpcForm.CONTENT_TYPE, ConnectForm.JSON)
                .set(CONTENT_LENGTH, String.valueOf(body.length));
    }
}
