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

/** The format of the messages and answers of a call: gRPC, gRPC-Web, Connect or JSON. Thread-safe. */
interface CallEncoding {

    /** The name of the protocol as meters and filters show it. */
    String protocol();

    /** The metadata of a request for the application. */
    Metadata metadata(Http2Headers head);

    /** Decodes the message of a request. Owns the frame. */
    DecodedRequest readRequest(HttpExchange exchange, Route route, Frame frame, ServiceLookup services);

    /** Decodes only the name of the method that a generic call names. Owns the frame. */
    default String readGenericMethod(HttpExchange exchange, Route route, Frame frame) {
        frame.payload().release();
        return route.methodName(); // only gRPC has generic calls
    }

    /**
     * Encodes one message of an answer.
     *
     * @param codec the codec that the request selected, or null
     * @param compressed whether to compress the message, which the caller accepts
     * @throws SerializationException if it cannot be encoded or exceeds the limit
     */
    byte[] message(
            HttpExchange exchange,
            MethodDescriptor method,
            @Nullable PayloadCodec codec,
            @Nullable Object value,
            boolean compressed);

    /**
     * Whether headers that the method sends early must wait for the result, because the head contains the result.
     *
     * @throws RpcException if they wait and cannot be sent
     */
    default boolean holdsHeaders(Metadata headers) {
        return false;
    }

    /**
     * The head of an answer.
     *
     * @param compressed whether its messages may be compressed
     * @throws RpcException if the metadata cannot be sent
     */
    Http2Headers head(HttpExchange exchange, Metadata headers, boolean compressed);

    /**
     * The end of an answer, with its metadata.
     *
     * @param head null if the head was sent before
     * @param failure null for success
     * @throws RpcException if the metadata cannot be sent
     */
    HttpWrite end(
            HttpExchange exchange,
            @Nullable Http2Headers head,
            byte @Nullable [] message,
            @Nullable Failure failure,
            Metadata trailers);

    /**
     * A complete answer that has only a message, if the protocol has a short form without individual headers; otherwise
     * null.
     */
    default @Nullable HttpWrite plain(HttpExchange exchange, byte[] message) {
        return null;
    }

    /** Converts the failure to the one that the caller sees. */
    default Throwable told(Throwable failure) {
        return failure;
    }

    /**
     * Returns a complete answer with a failure if the protocol has a special form for it; null if the failure is sent
     * by {@link #end}.
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
     * @param executed whether its method ran; if not, any call may be repeated
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
