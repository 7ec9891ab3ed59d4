package tern.rpc;

/** An exception outside the packages of the services, which no method declares. Callers may not have this class. */
public final class StrangeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StrangeException(String message) {
        super(message);
    }
}
