package tern.rpc.transport;

import org.jspecify.annotations.Nullable;

/**
 * A received stream message that has not been decoded. Either {@link #decode} or {@link #discard} is called exactly
 * once. {@link #bytes} must not be called after that.
 */
public interface Message {

    /** Returns the encoded size of the message in bytes. */
    int bytes();

    /**
     * Decodes the message, on a thread that may block.
     *
     * @throws tern.rpc.RpcException if the message is invalid
     */
    @Nullable
    Object decode();

    /** Releases a message that is no longer needed. */
    void discard();
}
