package tern.rpc;

/**
 * An exception that no method declares and that is outside the services' packages, so callers do not necessarily have
 * its class.
 */
public final class StrangeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StrangeException(String message) {
        super(message);
    }
}
