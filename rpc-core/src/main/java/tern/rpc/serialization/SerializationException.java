package tern.rpc.serialization;

/**
 * Thrown when bytes do not contain a valid value, a class is not allowed, or a value cannot be encoded. The message
 * contains the details.
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
