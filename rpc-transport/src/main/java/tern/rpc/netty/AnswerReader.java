package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** Decodes the answers that arrive on one connection, one after another. Only one thread at a time uses a reader. */
public interface AnswerReader {

    /**
     * Reads bytes received for the answer to a call.
     *
     * @return the answer, which keeps no reference to the given bytes; null until all of its bytes have arrived
     * @throws tern.rpc.RpcException if the answer is invalid; the reader cannot decode later answers on this connection
     */
    @Nullable
    Answer read(ByteBuf in, PendingCall call);

    /** Returns whether the connection can be used for another request after the last answer. */
    boolean keepsAlive();

    /** Called when no more bytes are read. An incomplete answer then no longer counts in any memory limit. */
    void end();

    /** Returns the number of missing bytes of the current answer; 0 if the length of the answer is unknown. */
    int missingBytes();
}
