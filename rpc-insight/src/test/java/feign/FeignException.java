package feign;

/** Stands in for the exception that the client library Feign throws to report the status of an answer. */
public final class FeignException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public FeignException(String message) {
        super(message);
    }
}
