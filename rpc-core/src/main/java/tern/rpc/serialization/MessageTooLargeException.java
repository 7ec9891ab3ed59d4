package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;

/** A message outgrew its limit while it was written. */
public final class MessageTooLargeException extends SerializationException {

    private static final long serialVersionUID = 1L;

    /**
     * @param limitBytes of the message
     * @param neededBytes that it has at the least
     * @param kind whose property sets the limit; null if none does
     */
    public MessageTooLargeException(int limitBytes, long neededBytes, @Nullable MessageKind kind) {
        super("message longer than " + limitBytes + " bytes (it has " + neededBytes + " or more"
                + MessageKind.setBy(kind) + ")");
    }
}
