package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Base64;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;

/** The names and values of the headers and trailers of gRPC and Triple (docs/wire-protocol.md 3). */
final class GrpcHeaders {

    static final AsciiString GRPC = AsciiString.cached("application/grpc");
    static final AsciiString GRPC_PROTO = AsciiString.cached("application/grpc+proto");
    static final AsciiString GRPC_JSON = AsciiString.cached("application/grpc+json");
    /**
     * The content type that dubbo-go uses for Triple's wrappers. A dubbo-go client accepts no other content type in the
     * answer.
     */
    static final AsciiString GRPC_HESSIAN2 = AsciiString.cached("application/grpc+hessian2");

    static final AsciiString CONTENT_TYPE = AsciiString.cached("content-type");
    static final AsciiString STATUS = AsciiString.cached("grpc-status");
    static final AsciiString MESSAGE = AsciiString.cached("grpc-message");
    static final AsciiString DETAILS = AsciiString.cached("grpc-status-details-bin");
    static final AsciiString TIMEOUT = AsciiString.cached("grpc-timeout");
    static final AsciiString ENCODING = AsciiString.cached("grpc-encoding");
    static final AsciiString ACCEPT_ENCODING = AsciiString.cached("grpc-accept-encoding");
    static final AsciiString GROUP = AsciiString.cached("tri-service-group");
    static final AsciiString VERSION = AsciiString.cached("tri-service-version");
    static final AsciiString EXCEPTION = AsciiString.cached("tri-exception-code");
    // the value of tri-exception-code for an exception (docs/wire-protocol.md 8.1)
    static final AsciiString BUSINESS = AsciiString.cached("3");

    /**
     * The header that states whether the method of a failed call ran. If the method did not run, the call may be sent
     * to another server.
     */
    private static final AsciiString EXECUTED = AsciiString.cached("tern-executed");

    /** The request header of a one-way call: the caller does not wait for the answer. */
    static final AsciiString ONE_WAY = AsciiString.cached("tern-one-way");

    static final AsciiString YES = AsciiString.cached("yes");
    private static final AsciiString NO = AsciiString.cached("no");
    static final AsciiString GZIP = AsciiString.cached("gzip");
    static final AsciiString OK = AsciiString.cached("200");
    static final AsciiString ZERO = AsciiString.cached("0");
    static final AsciiString ENCODINGS = AsciiString.cached("identity,gzip");

    private GrpcHeaders() {}

    /**
     * Adds the header that states whether a failed call was executed. Adds nothing if it is unknown whether the call
     * was executed.
     */
    static void addExecuted(Http2Headers head, Executed executed) {
        if (executed != Executed.MAYBE) {
            head.set(EXECUTED, executed == Executed.YES ? YES : NO);
        }
    }

    /** Returns whether the call was executed, according to the headers of an answer. */
    static Executed executed(Function<AsciiString, @Nullable CharSequence> head) {
        CharSequence value = head.apply(EXECUTED);
        if (value == null) {
            return Executed.MAYBE;
        }
        return NO.contentEquals(value) ? Executed.NO : YES.contentEquals(value) ? Executed.YES : Executed.MAYBE;
    }

    /** Returns whether the caller does not wait for the answer, according to the headers of a request. */
    static boolean isOneWay(Http2Headers head) {
        CharSequence value = head.get(ONE_WAY);
        return value != null && YES.contentEquals(value);
    }

    static @Nullable String text(Http2Headers head, AsciiString name) {
        CharSequence value = head.get(name);
        return value == null ? null : value.toString();
    }

    static long timeoutNanos(Http2Headers head) {
        CharSequence value = head.get(TIMEOUT);
        if (value == null) {
            return -1;
        }
        try {
            return GrpcTimeout.parseNanos(value);
        } catch (IllegalArgumentException e) {
            throw RpcException.refusal(StatusCode.INTERNAL, String.valueOf(e.getMessage()), Executed.NO);
        }
    }

    static Http2Headers head(AsciiString contentType) {
        return new DefaultHttp2Headers(false, 4).status(OK).set(CONTENT_TYPE, contentType);
    }

    static Http2Headers okTrailers() {
        return new DefaultHttp2Headers(false, 2).set(STATUS, ZERO);
    }

    static Http2Headers trailers(@Nullable Status failure, Metadata metadata) {
        Http2Headers trailers = new DefaultHttp2Headers(false, 2 + metadata.size());
        if (failure == null) {
            trailers.set(STATUS, ZERO);
        } else {
            addStatus(trailers, failure);
        }
        TripleMetadata.write(metadata, trailers::add);
        return trailers;
    }

    static void addStatus(Http2Headers headers, Status status) {
        headers.set(STATUS, String.valueOf(status.code().ordinal()));
        if (!status.description().isEmpty()) {
            headers.set(MESSAGE, GrpcMessage.encode(status.description()));
        }
        if (!status.details().isEmpty()) {
            headers.set(DETAILS, Base64.getEncoder().withoutPadding().encodeToString(StatusDetails.encode(status)));
        }
    }
}
