package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.transport.ServiceLookup;

/** Connect's answers to requests that did not become calls: Connect errors and plain HTTP statuses. */
final class ConnectAnswers {

    static final String JSON = "json";
    static final String PROTO = "proto";

    private static final AsciiString CONTENT_LENGTH = AsciiString.cached("content-length");

    private ConnectAnswers() {}

    /**
     * Returns the route to the method that a request calls.
     *
     * @throws RpcException INVALID_ARGUMENT for an unsupported Connect version, UNIMPLEMENTED if the method does not
     *     exist
     */
    static Route route(HttpExchange exchange, ServiceLookup services) {
        ConnectHeaders.checkVersion(exchange.head());
        try {
            return Route.of(services, exchange.head());
        } catch (RpcException e) {
            if (e.status().code() != StatusCode.UNIMPLEMENTED) {
                throw e;
            }
            // A request for an unknown path gets status 404. Status 501 is used only if a method answers with it
            // (Connect conformance, unexpected-uri).
            throw new Nowhere(e.status());
        }
    }

    /** The error sent for a request whose path matches no method. */
    private static final class Nowhere extends RpcException {

        private static final long serialVersionUID = 1L;

        Nowhere(Status status) {
            super(status, Executed.NO, new Metadata());
        }

        /** Omits the stack trace, because refusals are expected and can occur thousands of times a second. */
        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    /**
     * Checks whether a method can be called with this codec and framing.
     *
     * @param codec {@code json} or {@code proto}
     * @param streaming whether messages have envelopes
     * @throws PlainRefusal with status 415 if the method cannot be called this way
     */
    static void checkServes(MethodDescriptor method, TripleCodecs codecs, String codec, boolean streaming) {
        boolean json = codec.equals(JSON);
        if (streaming != (method.type() == MethodType.UNARY)
                && (json || codec.equals(PROTO))
                && codecs.serves(method, json)) {
            return;
        }
        String accepted = String.join(", ", contentTypes(method, codecs));
        throw new PlainRefusal(
                HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE, method + " takes " + accepted, "accept-post", accepted);
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

    /** Answers with an error in the format of a unary call. */
    static void refuse(HttpExchange exchange, RpcException reason) {
        if (reason instanceof PlainRefusal plain) {
            plain.answer(exchange);
            return;
        }
        int status = reason instanceof Nowhere
                ? HttpResponseStatus.NOT_FOUND.code()
                : StatusTable.httpStatus(reason.status().code());
        refuse(exchange, status, reason.status());
    }

    private static void refuse(HttpExchange exchange, int httpStatus, Status status) {
        byte[] body = ConnectError.body(status);
        Http2Headers head = failed(new DefaultHttp2Headers(false, 4), httpStatus, body);
        if (status.code() == StatusCode.UNIMPLEMENTED) {
            head.set(ConnectHeaders.ACCEPT_ENCODING, ConnectHeaders.GZIP);
        }
        exchange.send(new HttpWrite(exchange, head, body, null, true));
    }

    /** Converts the headers of a successful answer to the headers of an error. */
    static Http2Headers failed(Http2Headers head, int httpStatus, byte[] body) {
        return head.status(HttpResponseStatus.valueOf(httpStatus).codeAsText())
                .set(GrpcHeaders.CONTENT_TYPE, ConnectForm.JSON)
                .set(CONTENT_LENGTH, String.valueOf(body.length));
    }
}
