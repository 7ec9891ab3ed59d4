package tern.rpc;

/** In no package of a service interface and declared by none: callers cannot be expected to have it. */
public final class StrangeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StrangeException(String message) {
        super(message);
    }
}
