package tern.rpc.diagnosis.failure;

/**
 * The failure of a web request that was answered with an error status although no exception is known. The exception has
 * no stack trace, because the trace would contain only the code that reads the status.
 */
public final class ErrorStatus extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;

    /** @param status the HTTP status of the answer */
    public ErrorStatus(int status) {
        super("status " + status, null, false, false);
        this.status = status;
    }

    /** Returns the HTTP status of the answer. */
    public int status() {
        return status;
    }
}
