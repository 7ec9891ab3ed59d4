package tern.rpc.transport;

import org.jspecify.annotations.Nullable;

/**
 * One message of a stream that came but was not read yet. Exactly one of {@link #decode} and {@link #discard} is called,
 * once; {@link #bytes} only before that.
 */
public interface Message {

    /** Size of the message as it travelled. */
    int bytes();

    /**
     * Reads it, on a thread that may spend the time.
     *
     * @throws tern.rpc.RpcException if it makes no sense
     */
    @Nullable
    Object decode();

    /** Nobody wants it any more. */
    void discard();

    /** Whether it travelled compressed. */
    boolean isCompressed();
}
