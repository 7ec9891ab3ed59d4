package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;

/** Thrown when a message exceeds its size limit while it is being encoded. */
public final class MessageTooLargeException extends SerializationException {

    private static final long serialVersionUID = 1L;

    /**
     * @param limitBytes the message size limit
     * @param neededBytes a lower bound on the message size
     * @param kind the kind of message whose property sets the limit, or null if no property sets it
     */
    public MessageTooLargeException(int limitBytes, long neededBytes, @Nullable MessageKind kind) {
        super("message longer than " + limitBytes + " bytes (it has " + neededBytes + " or more"
                + MessageKind.setBy(kind) + ")");
    }
}
