package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.Status;

/** A request that is refused by a status of HTTP alone, in plain text: its client would not read an error of a call. */
final class PlainRefusal extends RpcException {

    private static final long serialVersionUID = 1L;

    private final transient HttpResponseStatus httpStatus;
    private final String headerName;
    private final String headerValue;

    PlainRefusal(HttpResponseStatus httpStatus, String description) {
        this(httpStatus, description, "", "");
    }

    /** @param headerName of a header that tells what is possible */
    PlainRefusal(HttpResponseStatus httpStatus, String description, String headerName, String headerValue) {
        super(new Status(HttpRefusal.code(httpStatus), description), Executed.NO, new Metadata());
        this.httpStatus = httpStatus;
        this.headerName = headerName;
        this.headerValue = headerValue;
    }

    void answer(HttpExchange exchange) {
        if (headerName.isEmpty()) {
            PlainAnswer.send(exchange, httpStatus, status().description());
        } else {
            PlainAnswer.send(exchange, httpStatus, status().description(), headerName, headerValue);
        }
    }

    /** A refusal is expected, and may be made thousands of times a second. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
