package tern.rpc.serialization;

/**
 * Thrown for bytes without a valid value, a class that is not allowed, or a value that cannot be encoded. The message
 * gives the details.
 */
public class SerializationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public SerializationException(String message) {
        super(message);
    }

    public SerializationException(String message, Throwable cause) {
        super(message, cause);
    }
}
