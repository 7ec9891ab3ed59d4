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

    private CallEnds() {}

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
