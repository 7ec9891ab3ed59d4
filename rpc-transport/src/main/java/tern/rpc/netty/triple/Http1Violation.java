package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;

/** Bytes that are no valid HTTP/1.1, or are ambiguous. The connection ends with the answer. */
final class Http1Violation extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient HttpResponseStatus status;

    Http1Violation(HttpResponseStatus status, String message) {
        super(message, null, false, false);
        this.status = status;
    }

    static Http1Violation badRequest(String message) {
        return new Http1Violation(HttpResponseStatus.BAD_REQUEST, message);
    }

    /** The status of the answer. */
    HttpResponseStatus status() {
        return status;
    }

    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
