package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Map;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;

/**
 * Replaces the headers and trailers of a gRPC answer if they are larger than the client accepts
 * (SETTINGS_MAX_HEADER_LIST_SIZE, 8 KiB in gRPC for Java). The client would drop such headers and therefore not learn
 * the status of the call. Clients that use Netty even close the connection if the headers are longer than one frame.
 */
final class OversizedHeaders {

    private static final AsciiString HTTP_STATUS = AsciiString.cached(":status");

    /** The number of bytes that are counted for a field in addition to its name and value (RFC 9113, 6.5.2). */
    private static final int FIELD_BYTES = 32;

    private OversizedHeaders() {}

    /**
     * Returns the part of the answer to send. If its headers and trailers fit, or if the answer is not gRPC, the result
     * is the given part. Trailers that do not fit are replaced with trailers without metadata and details. Headers that
     * do not fit are replaced with a failure, which ends the answer.
     *
     * @param most the maximum size that the client accepts
     */
    static HttpWrite fitted(HttpWrite part, HttpExchange exchange, long most) {
        if (most >= Integer.MAX_VALUE) {
            return part; // the client has not limited the size of headers
        }
        Http2Headers head = part.head();
        Http2Headers trailers = part.trailers();
        if (head != null && isGrpc(head) && bytes(head) > most) {
            Http2Headers refusal = GrpcHeaders.head(AsciiString.of(head.get(GrpcHeaders.CONTENT_TYPE)));
            fail(refusal, "headers", bytes(head), most);
            return new HttpWrite(exchange, null, null, refusal, true);
        }
        if (trailers != null && bytes(trailers) > most) {
            return new HttpWrite(exchange, head, part.body(), reduced(trailers, most), true);
        }
        return part;
    }

    private static boolean isGrpc(Http2Headers head) {
        CharSequence type = head.get(GrpcHeaders.CONTENT_TYPE);
        int length = GrpcHeaders.GRPC.length();
        return type != null
                && AsciiString.of(type).startsWith(GrpcHeaders.GRPC)
                && (type.length() == length || type.charAt(length) == '+'); // "application/grpc-web" is not gRPC
    }

    private static long bytes(Http2Headers fields) {
        long bytes = 0;
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            bytes += field.getKey().length() + field.getValue().length() + FIELD_BYTES;
        }
        return bytes;
    }

    /** Returns the status of a failed call, or a failure because the trailers of a successful call do not fit. */
    private static Http2Headers reduced(Http2Headers trailers, long most) {
        Http2Headers reduced = new DefaultHttp2Headers(false, 5);
        copy(trailers, HTTP_STATUS, reduced);
        copy(trailers, GrpcHeaders.CONTENT_TYPE, reduced);
        CharSequence status = trailers.get(GrpcHeaders.STATUS);
        if (status == null || GrpcHeaders.ZERO.contentEquals(status)) {
            fail(reduced, "trailers", bytes(trailers), most);
            return reduced;
        }
        copy(trailers, GrpcHeaders.STATUS, reduced);
        copy(trailers, GrpcHeaders.MESSAGE, reduced);
        GrpcHeaders.addExecuted(reduced, GrpcHeaders.executed(trailers::get));
        return reduced;
    }

    private static void copy(Http2Headers from, AsciiString name, Http2Headers to) {
        CharSequence value = from.get(name);
        if (value != null) {
            to.set(name, value);
        }
    }

    private static void fail(Http2Headers headers, String what, long bytes, long most) {
        GrpcHeaders.addStatus(
                headers,
                new Status(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "the " + what + " of the answer have " + bytes + " bytes; the client accepts at most " + most));
        GrpcHeaders.addExecuted(headers, Executed.YES);
    }
}
