package tern.rpc.netty;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.transport.PendingCall;

/**
 * Creates the exceptions for calls that end without an answer. The exceptions are the same for every kind of
 * connection.
 */
final class CallEnds {

    /** The close reason of a connection that the server has closed. */
    static final String CLOSED_BY_SERVER = "the connection was closed by the server";

    private CallEnds() {}

    /** Returns the close reason of a connection that the server has closed without sending anything. */
    static String closedBeforeAnyBytes(String protocol, boolean isSecure) {
        return CLOSED_BY_SERVER + " before it sent anything; does it serve " + protocol + " on this port"
                + (isSecure ? "?" : ", without TLS?");
    }

    /** Returns the failure of a call that is not sent because too many bytes are waiting to be sent. */
    static RpcException queueIsFull(
            PendingCall call, Endpoint endpoint, long queuedBytes, ClientTransportSettings settings) {
        return refused(
                call,
                endpoint,
                queuedBytes + " of " + settings.maxQueuedBytes()
                        + " bytes are waiting to be sent (set by rpc.limits.max-unsent)");
    }

    /** Returns the failure of a call that is not sent because too many calls are in flight. */
    static RpcException tooManyInFlight(PendingCall call, Endpoint endpoint, ClientTransportSettings settings) {
        return refused(
                call,
                endpoint,
                settings.maxInFlight() + " of " + settings.maxInFlight()
                        + " calls are in flight (set by rpc.limits.max-calls-per-connection)");
    }

    private static RpcException refused(PendingCall call, Endpoint endpoint, String reason) {
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                call + " was not sent to " + endpoint + ": " + reason + "; use more connections or make fewer calls",
                Executed.NO);
    }

    /** Returns the failure of a call whose connection was lost. */
    static RpcException lost(PendingCall call, Endpoint endpoint, String reason, Executed executed) {
        return RpcException.refusal(StatusCode.UNAVAILABLE, call + " at " + endpoint + ": " + reason, executed);
    }

    /** Returns the failure of a call whose request cannot be encoded. */
    static RpcException unsendable(PendingCall call, Endpoint endpoint, Throwable cause) {
        if (cause instanceof RpcException known) {
            return known;
        }
        StatusCode code =
                cause instanceof MessageTooLargeException ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INVALID_ARGUMENT;
        return new RpcException(
                code, call + " was not sent to " + endpoint + ": " + describe(cause), Executed.NO, cause);
    }

    static String describe(@Nullable Throwable cause) {
        if (cause == null) {
            return "null";
        }
        String message = Thrown.message(cause);
        return message == null ? Thrown.text(cause) : message;
    }
}
