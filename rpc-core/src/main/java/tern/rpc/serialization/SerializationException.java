package tern.rpc.serialization;

/** Bytes that do not make a value, a class that may not be read, or a value that cannot be written; the message says which. */
public class SerializationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public SerializationException(String message) {
        super(message);
    }

    public SerializationException(String message, Throwable cause) {
        super(message, cause);
    }
}
