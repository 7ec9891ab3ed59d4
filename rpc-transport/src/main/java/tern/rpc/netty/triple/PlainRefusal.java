package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;

/**
 * An error that is sent as a plain HTTP status with a plain-text message. Used when the client could not decode an RPC
 * error.
 */
final class PlainRefusal extends HttpRefusal {

    private static final long serialVersionUID = 1L;

    PlainRefusal(HttpResponseStatus httpStatus, String description) {
        super(httpStatus, description);
    }

    /** @param headerName the name of a header that lists the supported values */
    PlainRefusal(HttpResponseStatus httpStatus, String description, String headerName, String headerValue) {
        super(httpStatus, description, headerName, headerValue);
    }

    void answer(HttpExchange exchange) {
        if (headerName().isEmpty()) {
            PlainAnswer.send(exchange, httpStatus(), status().description());
        } else {
            PlainAnswer.send(exchange, httpStatus(), status().description(), headerName(), headerValue());
        }
    }
}
