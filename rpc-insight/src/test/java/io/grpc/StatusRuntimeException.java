package io.grpc;

/** Stands in for the exception that gRPC throws to report the status of a call. */
public final class StatusRuntimeException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public StatusRuntimeException(String message) {
        super(message);
    }
}
