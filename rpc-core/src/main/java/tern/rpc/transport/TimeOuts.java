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
 * Creates the messages for timeouts. They are the same on every transport and contain address, time and the setting of
 * the limit.
 */
public final class TimeOuts {

    private static final String STILL_RUNNING = " was still running after ";

    private TimeOuts() {}

    /** The failure of a call that has no answer at its deadline. */
    public static RpcException late(PendingCall call, Endpoint endpoint, boolean connecting) {
        String where = connecting ? "no connection to " + endpoint : "no answer from " + endpoint;
        return RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                call + ": " + where + " within " + call.call().deadline().describe(call.startedNanos()),
                call.wasSent() ? Executed.MAYBE : Executed.NO);
    }

    /**
     * The message of a server about a method that runs beyond its deadline.
     *
     * @param millis the time since the call was received
     */
    public static String stillRunning(String method, long millis) {
        return method + STILL_RUNNING + millis + " ms, when its deadline passed";
    }

    /**
     * The message for the caller if a server answers DEADLINE_EXCEEDED. The server only knows the remaining time, so
     * its number is replaced by the caller's own limit.
     *
     * @param text the message of the server
     */
    public static String answered(Invocation call, Endpoint endpoint, String text) {
        Deadline deadline = call.deadline();
        TimeLimit limit = deadline.limit();
        String told = limit != null && text.startsWith(call + STILL_RUNNING)
                ? "still running after " + limit
                : text + (deadline.isLimited() ? "; the call had " + deadline.origin() : "");
        return call + " at " + endpoint + ": " + told;
    }

    /** The failure that a server answered with. For DEADLINE_EXCEEDED, its text names the caller's limit. */
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
