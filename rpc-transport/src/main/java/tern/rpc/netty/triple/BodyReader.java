package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Splits the body of a request into messages. Confined to the event loop. */
interface BodyReader {

    /**
     * A message of a request body.
     *
     * @param payload the payload, which the receiver of the frame must release
     * @param flags the flags before the message; if the whole body is one message, {@link MessageDeframer#COMPRESSED}
     *     or 0
     */
    record Frame(ByteBuf payload, int flags) {

        boolean isCompressed() {
            return (flags & MessageDeframer.COMPRESSED) != 0;
        }
    }

    /**
     * Adds received bytes to the body. The reader releases them.
     *
     * @throws tern.rpc.RpcException in the same cases as {@link #next}
     */
    void add(ByteBuf bytes);

    /**
     * Returns the next message.
     *
     * @param ended whether the body is complete
     * @return the message; null until it is complete
     * @throws tern.rpc.RpcException if the message is malformed or exceeds a limit
     */
    @Nullable
    Frame next(boolean ended);

    /**
     * Returns whether all bytes have been returned as messages. Called at the end of the body.
     *
     * @throws tern.rpc.RpcException if the body ends within a message
     */
    boolean isEmptyAtEnd();

    /** Returns the number of received bytes that have not been returned as messages yet. */
    int held();

    /**
     * Replaces buffers that are larger than their content, because the rest of the body may take a long time to arrive.
     */
    default void compact() {}

    /** Releases the bytes that have not been returned as messages. */
    void close();
}
