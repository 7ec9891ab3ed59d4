package tern.rpc.transport;

import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.TimeLimit;
import tern.rpc.endpoint.Endpoint;

/** What callers are told whose time is over, on every transport: the address, the time, and what sets it. */
public final class TimeOuts {

    private static final String STILL_RUNNING = " was still running after ";

    private TimeOuts() {}

    /** Nobody answered in time. */
    public static RpcException late(PendingCall call, Endpoint endpoint, boolean connecting) {
        String where = connecting ? "no connection to " + endpoint : "no answer from " + endpoint;
        return RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                call + ": " + where + " within " + call.call().deadline().describe(call.startedNanos()),
                call.wasSent() ? Executed.MAYBE : Executed.NO);
    }

    /**
     * What a server tells of a method that goes on after its deadline.
     *
     * @param millis since the call came
     */
    public static String stillRunning(String method, long millis) {
        return method + STILL_RUNNING + millis + " ms, when its deadline passed";
    }

    /**
     * What the caller is told when a server answered DEADLINE_EXCEEDED. The server knows only what was left of the time,
     * so the caller's own limit replaces its number.
     *
     * @param text of the server
     */
    public static String answered(Invocation call, Endpoint endpoint, String text) {
        Deadline deadline = call.deadline();
        TimeLimit limit = deadline.limit();
        String told = limit != null && text.startsWith(call + STILL_RUNNING)
                ? "still running after " + limit
                : text + (deadline.isLimited() ? "; the call had " + deadline.origin() : "");
        return call + " at " + endpoint + ": " + told;
    }

    /** The failure that a server answered with; one for the lack of time says which time. */
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
