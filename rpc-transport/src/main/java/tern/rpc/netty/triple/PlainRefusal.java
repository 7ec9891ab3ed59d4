package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;

/** A request that is refused by a status of HTTP alone, in plain text: its client would not read an error of a call. */
final class PlainRefusal extends HttpRefusal {

    private static final long serialVersionUID = 1L;

    PlainRefusal(HttpResponseStatus httpStatus, String description) {
        super(httpStatus, description);
    }

    /** @param headerName of a header that tells what is possible */
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
