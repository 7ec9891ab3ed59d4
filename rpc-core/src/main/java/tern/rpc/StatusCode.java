package tern.rpc;

/**
 * The result of a call: one of the seventeen gRPC status codes. Tern uses these codes on every protocol.
 * {@link #ordinal()} is the code's number on the wire (gRPC, "Status codes and their use").
 */
public enum StatusCode {
    OK,
    CANCELLED,
    UNKNOWN,
    INVALID_ARGUMENT,
    DEADLINE_EXCEEDED,
    NOT_FOUND,
    ALREADY_EXISTS,
    PERMISSION_DENIED,
    RESOURCE_EXHAUSTED,
    FAILED_PRECONDITION,
    ABORTED,
    OUT_OF_RANGE,
    UNIMPLEMENTED,
    INTERNAL,
    UNAVAILABLE,
    DATA_LOSS,
    UNAUTHENTICATED;

    /**
     * Returns whether the code reports a mistake by the caller, such as an invalid argument or a missing permission. A
     * mistake by the caller is not a server failure.
     */
    public boolean blamesCaller() {
        return switch (this) {
            case INVALID_ARGUMENT,
                    NOT_FOUND,
                    ALREADY_EXISTS,
                    PERMISSION_DENIED,
                    FAILED_PRECONDITION,
                    OUT_OF_RANGE,
                    UNAUTHENTICATED -> true;
            default -> false;
        };
    }
}
