package tern.rpc.netty.dubbo;

import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.RemoteFailures;

/** The status byte of a response (docs/wire-protocol.md 1.3), and its mapping to status codes. */
final class DubboStatus {

    static final int OK = 20;
    static final int SERIALIZATION_ERROR = 25;
    static final int CLIENT_TIMEOUT = 30;
    static final int SERVER_TIMEOUT = 31;
    static final int CHANNEL_INACTIVE = 35;
    static final int BAD_REQUEST = 40;
    static final int BAD_RESPONSE = 50;
    static final int SERVICE_NOT_FOUND = 60;
    static final int SERVICE_ERROR = 70;
    static final int SERVER_ERROR = 80;
    static final int THREADPOOL_EXHAUSTED = 100;

    private static final StatusCode[] CODES = StatusCode.values();

    /**
     * The prefix of the error message that a Dubbo provider sends if it does not export the group or version of a call.
     */
    private static final String NOT_EXPORTED =
            "org.apache.dubbo.remoting.RemotingException: Not found exported service: ";

    /** The text with which a Tern server begins its error message if an answer exceeds the size limit. */
    static final String ANSWER_TOO_LARGE = "the answer exceeds the limit of the server: ";

    /** The text with which Dubbo's provider begins its error message if an answer exceeds the size limit. */
    private static final String DATA_TOO_LARGE = "Data length too large";

    private DubboStatus() {}

    /**
     * Returns the status for a failure. THREADPOOL_EXHAUSTED, SERVICE_NOT_FOUND and BAD_REQUEST tell the caller that
     * the method did not run, so they are used only in this case. SERVICE_ERROR tells the caller that the method ran.
     * INTERNAL and UNAVAILABLE have no exact equivalent; they are sent as a status that Dubbo's callers treat in the
     * same way.
     */
    static int of(RpcException failure) {
        if (failure.wasExecuted() == Executed.YES) {
            return SERVICE_ERROR;
        }
        boolean notRun = failure.wasExecuted() == Executed.NO;
        return switch (failure.code()) {
            case DEADLINE_EXCEEDED -> SERVER_TIMEOUT;
            case RESOURCE_EXHAUSTED -> notRun ? THREADPOOL_EXHAUSTED : SERVICE_ERROR;
            case UNIMPLEMENTED -> notRun ? SERVICE_NOT_FOUND : SERVICE_ERROR;
            case INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED -> notRun ? BAD_REQUEST : SERVICE_ERROR;
            case INTERNAL, UNAVAILABLE -> notRun ? THREADPOOL_EXHAUSTED : SERVER_ERROR;
            default -> SERVICE_ERROR;
        };
    }

    /**
     * @param text the error text in the answer. If it begins with the name of a status code, this code is used, because
     *     the status byte is less exact
     */
    static RpcException toException(int status, String text, Invocation call, Endpoint endpoint) {
        if (status == SERVICE_ERROR && text.startsWith(NOT_EXPORTED)) {
            return RemoteFailures.answered(
                    call,
                    endpoint,
                    new Status(StatusCode.UNIMPLEMENTED, "the service is not exported here: " + text),
                    Executed.NO);
        }
        StatusCode named = named(text);
        StatusCode code =
                named != null ? named : isTooLarge(status, text) ? StatusCode.RESOURCE_EXHAUSTED : code(status);
        String description = named == null ? text : text.substring(named.name().length() + 2);
        return RemoteFailures.answered(call, endpoint, new Status(code, description), executed(status));
    }

    /** Returns whether the answer was too large. The status byte is the same as for a result that cannot be written. */
    private static boolean isTooLarge(int status, String text) {
        return status == SERIALIZATION_ERROR && (text.startsWith(ANSWER_TOO_LARGE) || text.contains(DATA_TOO_LARGE));
    }

    private static @Nullable StatusCode named(String text) {
        for (StatusCode code : CODES) {
            if (text.startsWith(code.name())
                    && text.startsWith(": ", code.name().length())) {
                return code;
            }
        }
        return null;
    }

    private static StatusCode code(int status) {
        return switch (status) {
            case SERIALIZATION_ERROR, BAD_RESPONSE, SERVER_ERROR -> StatusCode.INTERNAL;
            case CLIENT_TIMEOUT, SERVER_TIMEOUT -> StatusCode.DEADLINE_EXCEEDED;
            case CHANNEL_INACTIVE -> StatusCode.UNAVAILABLE;
            case BAD_REQUEST -> StatusCode.INVALID_ARGUMENT;
            case SERVICE_NOT_FOUND -> StatusCode.UNIMPLEMENTED;
            case THREADPOOL_EXHAUSTED -> StatusCode.RESOURCE_EXHAUSTED;
            default -> StatusCode.UNKNOWN;
        };
    }

    private static Executed executed(int status) {
        return switch (status) {
            case BAD_REQUEST, SERVICE_NOT_FOUND, THREADPOOL_EXHAUSTED -> Executed.NO;
            case SERIALIZATION_ERROR, BAD_RESPONSE, SERVICE_ERROR -> Executed.YES;
            default -> Executed.MAYBE;
        };
    }
}
