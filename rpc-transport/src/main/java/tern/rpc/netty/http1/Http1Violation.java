package tern.rpc.netty.http1;

import io.netty.handler.codec.http.HttpResponseStatus;

/** Thrown if received bytes are invalid or ambiguous HTTP/1.1. The server answers and then closes the connection. */
public final class Http1Violation extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient HttpResponseStatus status;

    public Http1Violation(HttpResponseStatus status, String message) {
        super(message, null, false, false);
        this.status = status;
    }

    public static Http1Violation badRequest(String message) {
        return new Http1Violation(HttpResponseStatus.BAD_REQUEST, message);
    }

    /** Returns the HTTP status of the answer. */
    public HttpResponseStatus status() {
        return status;
    }

    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
