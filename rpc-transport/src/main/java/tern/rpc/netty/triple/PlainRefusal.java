package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;

/**
 * The refusal of a request with a plain HTTP status and a plain-text message. Used if the client could not decode an
 * RPC error.
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
