package tern.rpc;

/**
 * An undeclared exception whose class is outside the services' packages. Callers do not necessarily have this class.
 */
public final class StrangeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StrangeException(String message) {
        super(message);
    }
}
