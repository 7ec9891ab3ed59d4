package tern.sample.consumer.web;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.sample.api.ScheduleException;

/** Converts call failures to HTTP responses. */
@RestControllerAdvice
class CallFailures {

    @ExceptionHandler
    ProblemDetail rpcFailed(RpcException e) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status(e.code()), e.getMessage());
        problem.setProperty("code", e.code());
        problem.setProperty("executed", e.wasExecuted());
        return problem;
    }

    @ExceptionHandler
    ProblemDetail notScheduled(ScheduleException e) {
        HttpStatus status = switch (e.reason()) {
            case TENANT_REFUSED -> HttpStatus.FORBIDDEN;
            case NO_AGENT -> HttpStatus.CONFLICT;
        };
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, e.getMessage());
        problem.setProperty("reason", e.reason());
        return problem;
    }

    private static HttpStatus status(StatusCode code) {
        return switch (code) {
            case INVALID_ARGUMENT, OUT_OF_RANGE -> HttpStatus.BAD_REQUEST;
            case UNAUTHENTICATED -> HttpStatus.UNAUTHORIZED;
            case PERMISSION_DENIED -> HttpStatus.FORBIDDEN;
            case NOT_FOUND -> HttpStatus.NOT_FOUND;
            case ALREADY_EXISTS, ABORTED, FAILED_PRECONDITION -> HttpStatus.CONFLICT;
            case RESOURCE_EXHAUSTED -> HttpStatus.TOO_MANY_REQUESTS;
            case UNAVAILABLE -> HttpStatus.SERVICE_UNAVAILABLE;
            case DEADLINE_EXCEEDED -> HttpStatus.GATEWAY_TIMEOUT;
            case UNIMPLEMENTED -> HttpStatus.NOT_IMPLEMENTED;
            default -> HttpStatus.BAD_GATEWAY;
        };
    }
}
