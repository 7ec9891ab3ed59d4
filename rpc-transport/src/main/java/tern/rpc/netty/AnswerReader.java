package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** Reads the answers that come on one connection, one after another. One thread at a time. */
public interface AnswerReader {

    /**
     * Takes what came of the answer to a call.
     *
     * @return null until it is complete; it holds none of the given bytes
     * @throws tern.rpc.RpcException if it cannot be read, and then nothing on this connection can be any more
     */
    @Nullable
    Answer read(ByteBuf in, PendingCall call);

    /** Whether the connection may be used again after the last answer. */
    boolean keepsAlive();

    /** Bytes that the answer being read has still to bring, as far as is known. */
    int missingBytes();
}
