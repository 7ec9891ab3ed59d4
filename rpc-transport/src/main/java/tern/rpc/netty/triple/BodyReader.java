package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Takes the body of a request apart into messages. Event loop only. */
interface BodyReader {

    /**
     * One message.
     *
     * @param payload owned by whoever gets the frame
     * @param flags as of its prefix; a body that is one message has {@link MessageDeframer#COMPRESSED} or none
     */
    record Frame(ByteBuf payload, int flags) {

        boolean isCompressed() {
            return (flags & MessageDeframer.COMPRESSED) != 0;
        }
    }

    /**
     * More of the body; the reader owns the bytes from here on.
     *
     * @throws tern.rpc.RpcException as {@link #next}
     */
    void add(ByteBuf bytes);

    /**
     * The next message.
     *
     * @param ended whether the body is complete
     * @return null until more of it has come
     * @throws tern.rpc.RpcException if it breaks the form or a limit
     */
    @Nullable
    Frame next(boolean ended);

    /**
     * Whether nothing is left.
     *
     * @throws tern.rpc.RpcException if what is left at the end of the body is not a whole message
     */
    boolean isEmptyAtEnd();

    /** Bytes that came and were not given out. */
    int held();

    /** The rest of the body is late: what came does not keep larger buffers from here on. */
    default void compact() {}

    /** Lets go of what was not read. */
    void close();
}
