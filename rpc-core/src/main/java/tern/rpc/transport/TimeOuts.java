package tern.rpc.transport;

import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.TimeLimit;
import tern.rpc.endpoint.Endpoint;

/**
 * Creates the error messages for timeouts. The messages are the same on every transport and contain the address, the
 * time and the setting that determines the limit.
 */
public final class TimeOuts {

    private static final String STILL_RUNNING = " was still running after ";

    private static final String UNHEARD = "; the server accepted the connection, but has sent nothing on it yet: check"
            + " whether its process hangs, and whether this port serves this protocol";

    private TimeOuts() {}

    /**
     * Creates the failure of a call that was not answered before its deadline.
     *
     * @param connecting whether there was no connection
     * @param heard whether the server has sent any bytes on the connection
     * @param executed whether the call may have been executed; see {@link
     *     PendingCall#fail(java.util.function.Function)}
     */
    public static RpcException late(
            PendingCall call, Endpoint endpoint, boolean connecting, boolean heard, Executed executed) {
        // A stream may have delivered messages before, so "no answer" would be wrong.
        String answer = call.call().method().type().serverStreams() ? "no end of the stream from " : "no answer from ";
        String where = (connecting ? "no connection to " : answer) + endpoint;
        return RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                call + ": " + where + " within " + call.call().deadline().describe(call.startedNanos())
                        + (connecting || heard ? "" : UNHEARD),
                executed);
    }

    /**
     * Returns a server's message about a method that was still running at the deadline.
     *
     * @param millis the time since the call was received, in milliseconds
     */
    public static String stillRunning(String method, long millis) {
        return method + STILL_RUNNING + millis + " ms, when its deadline passed";
    }

    /**
     * Returns the message that the caller gets if a server answers with DEADLINE_EXCEEDED. The server receives only the
     * call's remaining time. Therefore the time in the server's message is replaced with the limit set by the caller.
     *
     * @param text the server's message
     */
    public static String answered(Invocation call, Endpoint endpoint, String text) {
        Deadline deadline = call.deadline();
        TimeLimit limit = deadline.limit();
        String described = limit != null && text.startsWith(call + STILL_RUNNING)
                ? "still running after " + limit
                : text + (deadline.isLimited() ? "; the call had " + deadline.origin() : "");
        return call + " at " + endpoint + ": " + described;
    }

    /**
     * Returns the failure to report to the caller. If the server's failure is DEADLINE_EXCEEDED, the caller's timeout
     * is added to its message. Any other failure is returned unchanged.
     */
    public static RpcException answered(Invocation call, Endpoint endpoint, RpcException failure) {
        if (failure.code() != StatusCode.DEADLINE_EXCEEDED) {
            return failure;
        }
        Status status = failure.status();
        return new RpcException(
                new Status(status.code(), answered(call, endpoint, status.description()), status.details()),
                failure.wasExecuted(),
                failure.metadata());
    }
}
