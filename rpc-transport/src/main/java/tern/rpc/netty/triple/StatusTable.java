package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * Maps status codes to the names and numbers of gRPC, Connect, HTTP and HTTP/2 (docs/wire-protocol.md 3.6, 8.2 and
 * 8.3).
 */
final class StatusTable {

    private static final StatusCode[] CODES = StatusCode.values();

    /** The names of the status codes in Connect, indexed by the ordinal of the status code. */
    private static final String[] CONNECT_NAMES = {
        "ok",
        "canceled",
        "unknown",
        "invalid_argument",
        "deadline_exceeded",
        "not_found",
        "already_exists",
        "permission_denied",
        "resource_exhausted",
        "failed_precondition",
        "aborted",
        "out_of_range",
        "unimplemented",
        "internal",
        "unavailable",
        "data_loss",
        "unauthenticated"
    };

    private StatusTable() {}

    /**
     * The status of a call whose stream was reset.
     *
     * @param executed whether the method ran; {@code MAYBE} if the reset does not show whether it ran
     */
    record Reset(StatusCode code, Executed executed) {}

    /** Returns the status code for a number in {@code grpc-status}; {@code UNKNOWN} for an unknown number. */
    static StatusCode fromNumber(int number) {
        return number >= 0 && number < CODES.length ? CODES[number] : StatusCode.UNKNOWN;
    }

    /** Returns the status code for the value of {@code grpc-status}; {@code UNKNOWN} if the value is not a number. */
    static StatusCode fromNumber(CharSequence text) {
        int length = text.length();
        if (length < 1 || length > 2 || !isDigit(text.charAt(0)) || !isDigit(text.charAt(length - 1))) {
            return StatusCode.UNKNOWN;
        }
        return fromNumber(length == 1 ? text.charAt(0) - '0' : (text.charAt(0) - '0') * 10 + text.charAt(1) - '0');
    }

    private static boolean isDigit(char character) {
        return character >= '0' && character <= '9';
    }

    static String connectName(StatusCode code) {
        return CONNECT_NAMES[code.ordinal()];
    }

    static @Nullable StatusCode fromConnectName(String name) {
        for (StatusCode code : CODES) {
            if (connectName(code).equals(name)) {
                return code;
            }
        }
        return null;
    }

    static int httpStatus(StatusCode code) {
        return switch (code) {
            case OK -> 200;
            case CANCELLED -> 499;
            case INVALID_ARGUMENT, FAILED_PRECONDITION, OUT_OF_RANGE -> 400;
            case DEADLINE_EXCEEDED -> 504;
            case NOT_FOUND -> 404;
            case ALREADY_EXISTS, ABORTED -> 409;
            case PERMISSION_DENIED -> 403;
            case RESOURCE_EXHAUSTED -> 429;
            case UNIMPLEMENTED -> 501;
            case UNAVAILABLE -> 503;
            case UNAUTHENTICATED -> 401;
            case UNKNOWN, INTERNAL, DATA_LOSS -> 500;
        };
    }

    /** Returns the status code for an HTTP answer without {@code grpc-status}, for example from a proxy. */
    static StatusCode fromHttpStatus(int status) {
        return switch (status) {
            case 400, 431 -> StatusCode.INTERNAL;
            case 401 -> StatusCode.UNAUTHENTICATED;
            case 403 -> StatusCode.PERMISSION_DENIED;
            case 404 -> StatusCode.UNIMPLEMENTED;
            case 429, 502, 503, 504 -> StatusCode.UNAVAILABLE;
            default -> StatusCode.UNKNOWN;
        };
    }

    /** @param errorCode the code of a RST_STREAM frame (RFC 9113, section 7) */
    static Reset fromHttp2Error(long errorCode) {
        return switch ((int) Math.min(errorCode, Integer.MAX_VALUE)) {
            case 0x7 -> new Reset(StatusCode.UNAVAILABLE, Executed.NO); // the HTTP/2 error REFUSED_STREAM
            case 0x8 -> new Reset(StatusCode.CANCELLED, Executed.MAYBE); // the HTTP/2 error CANCEL
            case 0xB -> new Reset(StatusCode.RESOURCE_EXHAUSTED, Executed.MAYBE); // the HTTP/2 error ENHANCE_YOUR_CALM
            case 0xC -> new Reset(StatusCode.PERMISSION_DENIED, Executed.MAYBE); // the HTTP/2 error INADEQUATE_SECURITY
            default -> new Reset(StatusCode.INTERNAL, Executed.MAYBE);
        };
    }
}
