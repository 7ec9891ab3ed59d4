package tern.rpc.serialization;

/** A message outgrew its limit while it was written. */
public final class MessageTooLargeException extends SerializationException {

    private static final long serialVersionUID = 1L;

    public MessageTooLargeException(int limitBytes) {
        super("message longer than " + limitBytes + " bytes (set by rpc.limits.max-message)");
    }
}
