package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.Coder;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.Answer;
import tern.rpc.transport.RemoteFailures;

/** A response frame that has not been decoded yet. The object owns the bytes of the frame. */
final class DubboAnswer implements Answer {

    private final DubboProtocol protocol;
    private final Endpoint endpoint;
    private final int flags;
    private final int status;
    private final ByteBuf body;

    DubboAnswer(DubboProtocol protocol, Endpoint endpoint, int flags, int status, ByteBuf body) {
        this.protocol = protocol;
        this.endpoint = endpoint;
        this.flags = flags;
        this.status = status;
        this.body = body;
    }

    @Override
    public Response decode(Invocation call) throws Throwable {
        int serialization = DubboHeader.serialization(flags);
        if (serialization != DubboHeader.HESSIAN2) {
            body.release();
            String reason = "it uses serialization " + DubboHeader.nameOf(serialization) + " instead of hessian2";
            if (status == DubboStatus.OK) {
                throw unreadable(call, reason, null);
            }
            // Dubbo's providers write the text of an error in their own serialization if they have not decoded the
            // request. Even if the text cannot be decoded, the status is used, because the status might state that the
            // method did not run.
            throw DubboStatus.toException(status, "its text cannot be read: " + reason, call, endpoint);
        }
        try {
            Coder coder = protocol.coders().take();
            ObjectReader reader = coder.reader();
            int length = body.readableBytes();
            byte[] array = coder.input(length);
            body.readBytes(array, 0, length);
            reader.start(array, 0, length, endpoint.host());
            Object result;
            if (status == DubboStatus.OK) {
                reader.trust(call.method().service());
                result = DubboResponseBody.read(reader, call.method());
                if (result instanceof Throwable read) {
                    result = RemoteFailures.thrown(call, endpoint, read);
                }
            } else {
                result = DubboStatus.toException(status, text(reader), call, endpoint);
            }
            protocol.coders().giveBack(coder);
            if (result instanceof Throwable failure) {
                throw failure;
            }
            return (Response) result;
        } catch (SerializationException e) {
            throw unreadable(call, e.getMessage(), e);
        } finally {
            body.release();
        }
    }

    /**
     * Returns the message of an error answer. If the message cannot be decoded, returns a text about this problem; the
     * status is used in any case.
     */
    private static String text(ObjectReader reader) {
        try {
            String text = reader.readString();
            return text == null ? "" : text;
        } catch (SerializationException e) {
            return "its text cannot be read: " + e.getMessage();
        }
    }

    private RpcException unreadable(Invocation call, @Nullable String reason, @Nullable Throwable cause) {
        return new RpcException(
                StatusCode.INTERNAL,
                call + ": the answer of " + endpoint + " cannot be read: " + reason,
                Executed.YES,
                cause);
    }

    @Override
    public void discard() {
        body.release();
    }
}
