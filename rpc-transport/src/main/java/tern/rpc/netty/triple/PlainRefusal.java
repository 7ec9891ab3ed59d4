package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;

/** A refusal with a plain HTTP status and text, because the client would not understand an RPC error. */
final class PlainRefusal extends HttpRefusal {

    private static final long serialVersionUID = 1L;

    PlainRefusal(HttpResponseStatus httpStatus, String description) {
        super(httpStatus, description);
    }

    /** @param headerName a header that lists the supported values */
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
