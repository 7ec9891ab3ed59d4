package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** Decodes the answers on one connection, one after another. Used by one thread at a time. */
public interface AnswerReader {

    /**
     * Reads bytes received for the answer to a call.
     *
     * @return the answer, or null until all of its bytes have arrived; the answer keeps no reference to the given bytes
     * @throws tern.rpc.RpcException if the answer is invalid; nothing further on this connection can then be decoded
     */
    @Nullable
    Answer read(ByteBuf in, PendingCall call);

    /** Whether the connection may be reused after the last answer. */
    boolean keepsAlive();

    /** The number of missing bytes of the current answer, as far as known. */
    int missingBytes();
}
