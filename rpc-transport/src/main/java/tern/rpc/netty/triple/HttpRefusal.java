package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.Status;
import tern.rpc.StatusCode;

/** An error that is sent as an HTTP status without an equivalent RPC status code. */
class HttpRefusal extends RpcException {

    private static final long serialVersionUID = 1L;

    private final transient HttpResponseStatus httpStatus;
    private final String headerName;
    private final String headerValue;

    /** Creates a refusal with the RPC status code that is closest to the HTTP status. */
    HttpRefusal(HttpResponseStatus httpStatus, String description) {
        this(httpStatus, description, "", "");
    }

    /** @param headerName the name of a header that lists the supported values; empty for no header */
    HttpRefusal(HttpResponseStatus httpStatus, String description, String headerName, String headerValue) {
        super(new Status(code(httpStatus), description), Executed.NO, new Metadata());
        this.httpStatus = httpStatus;
        this.headerName = headerName;
        this.headerValue = headerValue;
    }

    final HttpResponseStatus httpStatus() {
        return httpStatus;
    }

    final String headerName() {
        return headerName;
    }

    final String headerValue() {
        return headerValue;
    }

    /** Omits the stack trace, because refusals are expected and can occur thousands of times a second. */
    @Override
    public final synchronized Throwable fillInStackTrace() {
        return this;
    }

    /** Returns the RPC status code for clients that do not read the HTTP status. */
    static StatusCode code(HttpResponseStatus status) {
        return switch (status.code()) {
            case 403 -> StatusCode.PERMISSION_DENIED;
            case 404 -> StatusCode.NOT_FOUND;
            case 408 -> StatusCode.DEADLINE_EXCEEDED;
            case 413, 414, 431 -> StatusCode.RESOURCE_EXHAUSTED;
            case 405, 415, 501, 505 -> StatusCode.UNIMPLEMENTED;
            default -> StatusCode.INVALID_ARGUMENT;
        };
    }
}
