package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.ServiceLookup;

/** The format of a call's messages and answers: gRPC, gRPC-Web, Connect or JSON. Thread-safe. */
interface CallEncoding {

    /** Returns the protocol name that meters and filters use. */
    String protocol();

    /** Returns the application metadata of a request. */
    Metadata metadata(Http2Headers head);

    /** Decodes the message of a request. Releases the frame. */
    DecodedRequest readRequest(HttpExchange exchange, Route route, Frame frame, ServiceLookup services);

    /** Decodes only the name of the method that a generic call selects in its message. Releases the frame. */
    default String readGenericMethod(HttpExchange exchange, Route route, Frame frame) {
        frame.payload().release();
        return route.methodName(); // only gRPC supports generic calls
    }

    /**
     * Encodes one answer message.
     *
     * @param codec the codec that the request selected; null if the encoding has only one codec
     * @param compressed whether to compress the message; true only if the caller accepts it
     * @throws SerializationException if the message cannot be encoded or exceeds the limit
     */
    byte[] message(
            HttpExchange exchange,
            MethodDescriptor method,
            @Nullable PayloadCodec codec,
            @Nullable Object value,
            boolean compressed);

    /**
     * Returns whether headers that the method sends before its result must be kept until the result is known. Only
     * encodings whose headers depend on the result return true.
     *
     * @throws RpcException if the headers must be kept but are invalid
     */
    default boolean holdsHeaders(Metadata headers) {
        return false;
    }

    /**
     * Returns the headers of an answer.
     *
     * @param compressed whether messages of the answer may be compressed
     * @throws RpcException if the metadata cannot be sent
     */
    Http2Headers head(HttpExchange exchange, Metadata headers, boolean compressed);

    /**
     * Returns the last part of an answer, including the trailers.
     *
     * @param head the headers of the answer; null if they have already been sent
     * @param message the message to send before the end; null for none
     * @param failure the failure of the call; null for success
     * @throws RpcException if the metadata cannot be sent
     */
    HttpWrite end(
            HttpExchange exchange,
            @Nullable Http2Headers head,
            byte @Nullable [] message,
            @Nullable Failure failure,
            Metadata trailers);

    /**
     * Returns a complete answer that consists of a message and the headers that every successful answer has; null if
     * the protocol cannot write such an answer directly.
     */
    default @Nullable HttpWrite plain(HttpExchange exchange, byte[] message) {
        return null;
    }

    /** Returns the failure to send to the caller, which can contain less detail than the given failure. */
    default Throwable forCaller(Throwable failure) {
        return failure;
    }

    /**
     * Returns a complete answer for a failure. Returns null if the protocol has no special format for failures; {@link
     * #end} then sends the failure.
     */
    default @Nullable HttpWrite wholeFailure(
            HttpExchange exchange,
            @Nullable MethodDescriptor method,
            @Nullable PayloadCodec codec,
            Throwable failure,
            Metadata metadata) {
        return null;
    }

    /**
     * The failure of a call.
     *
     * @param executed whether the method ran; if not, the call may be retried even if the method is not idempotent
     */
    record Failure(Status status, Executed executed) {

        static Failure of(Throwable failure) {
            return new Failure(
                    statusOf(failure), failure instanceof RpcException rpc ? rpc.wasExecuted() : Executed.YES);
        }

        private static Status statusOf(Throwable failure) {
            if (failure instanceof RpcException rpc && rpc.status().code() != StatusCode.OK) {
                return rpc.status();
            }
            String message = Thrown.message(failure);
            return new Status(
                    StatusCode.UNKNOWN, message == null ? failure.getClass().getName() : message);
        }
    }
}
