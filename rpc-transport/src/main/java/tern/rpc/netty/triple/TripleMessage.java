package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.Message;

/** One undecoded answer of a stream. The message owns its bytes. */
final class TripleMessage implements Message {

    private final TripleCodecs codecs;
    private final PayloadCodec payload;
    private final Connection connection;
    private final Frame frame;

    TripleMessage(TripleCodecs codecs, PayloadCodec payload, Connection connection, Frame frame) {
        this.codecs = codecs;
        this.payload = payload;
        this.connection = connection;
        this.frame = frame;
    }

    @Override
    public int bytes() {
        return frame.payload().readableBytes();
    }

    @Override
    public @Nullable Object decode() {
        int limit = connection.settings().maxResponseBytes();
        try {
            return codecs.readAnswer(
                    frame,
                    limit,
                    (bytes, length) -> payload.readResponse(
                            bytes, 0, length, connection.endpoint().host()));
        } catch (SerializationException e) {
            throw new RpcException(
                    StatusCode.INTERNAL,
                    payload.method() + ": a message of " + connection.endpoint() + " cannot be read: " + e.getMessage(),
                    Executed.YES,
                    e);
        }
    }

    @Override
    public void discard() {
        frame.payload().release();
    }
}
