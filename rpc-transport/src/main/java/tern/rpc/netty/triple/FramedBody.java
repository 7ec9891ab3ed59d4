package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.serialization.MessageKind;

/** A body that consists of messages, each preceded by flags and a length. Confined to the event loop. */
final class FramedBody implements BodyReader, MessageDeframer.Receiver {

    private final MessageDeframer deframer;
    private final boolean mayBeCompressed;
    private @Nullable Frame ready;
    private boolean isRequested;

    /** @param mayBeCompressed whether the request headers declare gzip compression */
    FramedBody(Framing framing, int maxRequestBytes, boolean mayBeCompressed) {
        this.mayBeCompressed = mayBeCompressed;
        this.deframer = new MessageDeframer(framing, maxRequestBytes, MessageKind.REQUEST, this);
    }

    @Override
    public void message(int flags, ByteBuf payload) {
        isRequested = false;
        ready = new Frame(payload, flags);
    }

    @Override
    public void add(ByteBuf bytes) {
        try {
            deframer.add(bytes);
        } finally {
            bytes.release();
        }
    }

    @Override
    public @Nullable Frame next(boolean ended) {
        if (ready == null && !isRequested) {
            isRequested = true;
            deframer.request(1);
        }
        Frame frame = ready;
        ready = null;
        if (frame != null && frame.isCompressed() && !mayBeCompressed) {
            frame.payload().release();
            throw RpcException.refusal(
                    StatusCode.INTERNAL,
                    "a message is marked as compressed, but no header names a coding",
                    Executed.NO);
        }
        return frame;
    }

    @Override
    public boolean isEmptyAtEnd() {
        if (ready != null) {
            return false;
        }
        if (deframer.isIncomplete()) {
            throw RpcException.refusal(StatusCode.INTERNAL, "the request ends within a message", Executed.NO);
        }
        return deframer.isEmpty();
    }

    @Override
    public int held() {
        Frame unread = ready;
        return deframer.held() + (unread == null ? 0 : unread.payload().readableBytes());
    }

    @Override
    public void close() {
        deframer.close();
        Frame unread = ready;
        ready = null;
        if (unread != null) {
            unread.payload().release();
        }
    }
}
