package tern.rpc.netty.http1;

import io.netty.handler.codec.http.HttpResponseStatus;

/**
 * Thrown if received bytes are invalid or ambiguous HTTP/1.1. The server answers and then closes the connection. If the
 * bytes belong to another protocol, the server closes the connection without an answer.
 */
public final class Http1Violation extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient HttpResponseStatus status;
    private final boolean http;

    public Http1Violation(HttpResponseStatus status, String message) {
        this(status, true, message);
    }

    private Http1Violation(HttpResponseStatus status, boolean http, String message) {
        super(message, null, false, false);
        this.status = status;
        this.http = http;
    }

    /**
     * Creates the violation for bytes of another protocol. A client of that protocol would not understand an answer.
     */
    static Http1Violation notHttp(String message) {
        return new Http1Violation(HttpResponseStatus.BAD_REQUEST, false, message);
    }

    public static Http1Violation badRequest(String message) {
        return new Http1Violation(HttpResponseStatus.BAD_REQUEST, message);
    }

    /** Returns whether the client might understand an HTTP/1.1 answer. */
    public boolean isHttp() {
        return http;
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
