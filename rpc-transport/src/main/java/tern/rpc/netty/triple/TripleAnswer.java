package tern.rpc.netty.triple;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Payload;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.Answer;
import tern.rpc.transport.RemoteFailures;

/** The undecoded answer to a unary call. The object owns the bytes of the message. */
final class TripleAnswer implements Answer {

    private final TripleCodecs codecs;
    private final PayloadCodec payload;
    private final Connection connection;
    private final GrpcAnswer answer;
    private final @Nullable Frame message;

    TripleAnswer(
            TripleCodecs codecs,
            PayloadCodec payload,
            Connection connection,
            GrpcAnswer answer,
            @Nullable Frame message) {
        this.codecs = codecs;
        this.payload = payload;
        this.connection = connection;
        this.answer = answer;
        this.message = message;
    }

    @Override
    public Response decode(Invocation call) throws Throwable {
        RpcException failure;
        try {
            failure = answer.failure(call, connection.endpoint());
        } catch (RpcException e) {
            discard();
            throw unreadable(call, e.code(), e);
        }
        if (failure != null) {
            discard();
            throw RemoteFailures.answered(call, connection.endpoint(), failure);
        }
        if (answer.isException() && !(payload instanceof WrapperCodec)) {
            discard();
            throw unreadable(
                    call,
                    StatusCode.INTERNAL,
                    new SerializationException("it is marked as an exception, which a call with "
                            + payload.method().payload() + " payload cannot have"));
        }
        Object value = null;
        if (message != null) {
            value = read(call, message);
        } else if (payload.method().payload() != Payload.JAVA || answer.isException()) {
            throw unreadable(call, StatusCode.INTERNAL, new SerializationException("it has no message"));
        }
        if (answer.isException()) {
            Throwable thrown = (Throwable) Objects.requireNonNull(value, "an exception is never read as null");
            throw thrown instanceof RpcException rpc && rpc.code() == StatusCode.DEADLINE_EXCEEDED
                    ? RemoteFailures.answered(call, connection.endpoint(), rpc)
                    : RemoteFailures.thrown(call, connection.endpoint(), thrown);
        }
        try {
            return new Response(value, answer.headers(), answer.trailers());
        } catch (RpcException e) {
            throw unreadable(call, e.code(), e);
        }
    }

    private @Nullable Object read(Invocation call, Frame frame) {
        int limit = connection.settings().maxResponseBytes();
        try {
            return codecs.readAnswer(frame, limit, (bytes, length) -> {
                String sender = connection.endpoint().host();
                if (answer.isException() && payload instanceof WrapperCodec wrapper) {
                    return wrapper.readException(bytes, 0, length, sender);
                }
                return payload.readResponse(bytes, 0, length, sender);
            });
        } catch (SerializationException e) {
            throw unreadable(call, StatusCode.INTERNAL, e);
        } catch (RpcException e) {
            throw unreadable(call, e.code(), e);
        }
    }

    private RpcException unreadable(Invocation call, StatusCode code, RuntimeException cause) {
        String reason = cause instanceof RpcException rpc ? rpc.status().description() : cause.getMessage();
        return new RpcException(
                code,
                call + ": the answer of " + connection.endpoint() + " cannot be read: " + reason,
                Executed.YES,
                cause);
    }

    @Override
    public void discard() {
        if (message != null) {
            message.payload().release();
        }
    }
}
