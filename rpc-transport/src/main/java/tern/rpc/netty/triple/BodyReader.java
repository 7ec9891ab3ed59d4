package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Splits the body of a request into messages. Confined to the event loop. */
interface BodyReader {

    /**
     * One message.
     *
     * @param payload owned by the receiver of the frame
     * @param flags the flags of its prefix; a body that consists of one message has {@link MessageDeframer#COMPRESSED}
     *     or none
     */
    record Frame(ByteBuf payload, int flags) {

        boolean isCompressed() {
            return (flags & MessageDeframer.COMPRESSED) != 0;
        }
    }

    /**
     * Adds bytes of the body, which the reader owns.
     *
     * @throws tern.rpc.RpcException as {@link #next}
     */
    void add(ByteBuf bytes);

    /**
     * Returns the next message.
     *
     * @param ended whether the body is complete
     * @return null until the message is complete
     * @throws tern.rpc.RpcException if the message is malformed or exceeds a limit
     */
    @Nullable
    Frame next(boolean ended);

    /**
     * Whether no bytes are left.
     *
     * @throws tern.rpc.RpcException if an incomplete message is left at the end of the body
     */
    boolean isEmptyAtEnd();

    /** The number of received bytes that were not yet returned as messages. */
    int held();

    /** Replaces buffers that are larger than their content, because the rest of the body takes long. */
    default void compact() {}

    /** Releases unread bytes. */
    void close();
}
