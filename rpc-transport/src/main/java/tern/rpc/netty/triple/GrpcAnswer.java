package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.SerializationException;

/**
 * The headers and trailers of an answer (docs/wire-protocol.md 3.6).
 *
 * @param head the first header block
 * @param end the last header block, which can be the first header block; null if the answer ended without trailers
 */
record GrpcAnswer(Http2Headers head, @Nullable Http2Headers end) {

    /** The numeric code of {@link StatusCode#UNKNOWN}. */
    private static final String UNKNOWN = "2";

    /**
     * The value of {@code tri-exception-code} for a result without an exception. The header's values are listed in
     * docs/wire-protocol.md 8.1.
     */
    private static final String NO_EXCEPTION = "0";

    /** Returns the application metadata in the headers. */
    Metadata headers() {
        return head == end ? new Metadata() : TripleMetadata.read(head);
    }

    /** Returns the application metadata in the trailers. */
    Metadata trailers() {
        return end == null ? new Metadata() : TripleMetadata.read(end);
    }

    /** Returns whether the message of the answer is an exception, according to the headers. */
    boolean isException() {
        CharSequence code = head.get(GrpcHeaders.EXCEPTION);
        return code != null && !NO_EXCEPTION.contentEquals(code);
    }

    /** Returns whether the call succeeded. */
    boolean isOk() {
        CharSequence number = number(withStatus());
        return number != null && StatusTable.fromNumber(number) == StatusCode.OK;
    }

    /**
     * Returns the status number in the headers; null if there is none. If there are several, the result contains all of
     * them and is therefore not a status code. Otherwise, a failed call could appear to have succeeded.
     */
    private static @Nullable CharSequence number(Http2Headers last) {
        if (last.size() > 1) {
            List<CharSequence> all = last.getAll(GrpcHeaders.STATUS);
            if (all.size() > 1) {
                return String.join(",", all);
            }
        }
        return last.get(GrpcHeaders.STATUS);
    }

    private Http2Headers withStatus() {
        return end != null && end.contains(GrpcHeaders.STATUS) ? end : head;
    }

    /**
     * Returns the failure of the call; null if it succeeded.
     *
     * @param call the call to name in the failure if no gRPC server answered
     * @param endpoint the endpoint to name in the failure if no gRPC server answered
     * @throws RpcException if there are too many headers
     */
    @Nullable
    RpcException failure(Invocation call, Endpoint endpoint) {
        Http2Headers last = withStatus();
        CharSequence number = number(last);
        if (number == null) {
            return withoutStatus(call, endpoint);
        }
        StatusCode code = StatusTable.fromNumber(number);
        if (code == StatusCode.OK) {
            return null;
        }
        CharSequence message = last.get(GrpcHeaders.MESSAGE);
        String text = message == null ? "" : GrpcMessage.decode(message);
        if (code == StatusCode.UNKNOWN && !UNKNOWN.contentEquals(number)) {
            text += (text.isEmpty() ? "" : "; ") + "grpc-status is '" + PeerText.name(number.toString())
                    + "', which is not a status code";
        }
        Status status = new Status(code, text);
        CharSequence details = last.get(GrpcHeaders.DETAILS);
        return new RpcException(
                details == null ? status : detailed(status, details), GrpcHeaders.executed(last::get), trailers());
    }

    /**
     * Returns the status with the details from the header. The encoded details also contain the code and the message.
     * Details that cannot be decoded are ignored.
     */
    private static Status detailed(Status status, CharSequence base64) {
        try {
            Status detailed = StatusDetails.decode(StatusDetails.BASE64_DECODER.decode(base64.toString()));
            return detailed.code() == StatusCode.OK
                    ? new Status(status.code(), status.description(), detailed.details())
                    : detailed;
        } catch (IllegalArgumentException | SerializationException e) {
            return status;
        }
    }

    /**
     * Returns the failure for an answer without a status: either the peer does not speak gRPC, or the answer is
     * incomplete.
     */
    private RpcException withoutStatus(Invocation call, Endpoint endpoint) {
        CharSequence status = head.status();
        int number = status != null && status.length() == 3 ? number(status.toString()) : 0;
        CharSequence type = head.get(GrpcHeaders.CONTENT_TYPE);
        return new RpcException(
                new Status(
                        StatusTable.fromHttpStatus(number),
                        call + " at " + endpoint + ": it answered HTTP status " + status + " and content type "
                                + PeerText.name(type == null ? "" : type.toString())
                                + ", without grpc-status; does the address belong to an RPC server?"),
                Executed.MAYBE,
                trailers());
    }

    private static int number(String digits) {
        try {
            return Integer.parseInt(digits);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
