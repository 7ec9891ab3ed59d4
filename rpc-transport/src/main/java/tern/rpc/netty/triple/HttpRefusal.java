package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.Status;
import tern.rpc.StatusCode;

/** A request that is refused for a reason which HTTP has a status for and the codes of calls do not tell. */
class HttpRefusal extends RpcException {

    private static final long serialVersionUID = 1L;

    private final transient HttpResponseStatus httpStatus;
    private final String headerName;
    private final String headerValue;

    /** A code is chosen that fits. */
    HttpRefusal(HttpResponseStatus httpStatus, String description) {
        this(httpStatus, description, "", "");
    }

    /** @param headerName of a header that tells what is possible; empty for none */
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

    /** A refusal is expected, and may be made thousands of times a second. */
    @Override
    public final synchronized Throwable fillInStackTrace() {
        return this;
    }

    /** The code for callers who look at that instead of the status. */
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
