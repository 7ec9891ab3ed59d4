package tern.rpc.transport;

import org.jspecify.annotations.Nullable;

/** One message of a stream that came but was not read yet. Exactly one of the two first methods is called, once. */
public interface Message {

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
