package tern.rpc.server;

import java.security.Principal;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallHead;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.ServerCall;

/**
 * Checks one call with the tokens and authorizers of a server. Only the call's worker uses this object; any thread may
 * call {@link #late}.
 */
final class CallAdmission implements ServerCall.Admission {

    /** Admits every call without a check. */
    static final ServerCall.Admission OPEN = new ServerCall.Admission() {
        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void admit(CallHead call) {
            // Does nothing, because every call is admitted.
        }
    };

    private final CallGate gate;
    private final ServerCall call;
    private final ServerCall.Watcher watcher;
    private final NanoClock clock;
    private boolean admitted;
    private @Nullable Principal caller;
    // Records which authorizer is checking the call; null while no authorizer is checking it.
    private volatile CallGate.@Nullable AuthorizerProgress progress;

    /** @param watcher is notified if the call's deadline passes while an authorizer is checking the call */
    CallAdmission(CallGate gate, ServerCall call, ServerCall.Watcher watcher, NanoClock clock) {
        this.gate = gate;
        this.call = call;
        this.watcher = watcher;
        this.clock = clock;
    }

    @Override
    public boolean isOpen() {
        return false;
    }

    @Override
    public void admit(CallHead head) {
        CallGate.AuthorizerProgress current = new CallGate.AuthorizerProgress(head);
        if (gate.hasAuthorizers() && head.deadline().isLimited()) {
            progress = current;
            call.watch(head.deadline().nanoTime(), watcher);
        }
        caller = gate.admit(head, current);
        if (current.isLate(clock.nanoTime())) {
            throw current.late();
        }
        progress = null;
        admitted = true;
        if (!AcceptedTokens.isOpen(head)) {
            call.callerIsKnown();
        }
    }

    /**
     * Verifies that the transport has performed the admission check, and hides the server's token from the service.
     * Without this verification, a faulty transport that omits the check would make the server accessible to everyone.
     *
     * @return the caller; null if the caller is unknown
     */
    @Nullable
    Principal requireAdmitted(Invocation invocation) {
        if (!admitted) {
            throw ServedFailures.notAdmitted(invocation);
        }
        gate.conceal(invocation);
        return caller;
    }

    /**
     * Returns the failure to report if the call's deadline has passed while an authorizer is checking the call;
     * otherwise null. Any thread may call this.
     */
    @Nullable
    RpcException late() {
        CallGate.AuthorizerProgress current = progress;
        return current != null && current.isLate(clock.nanoTime()) ? current.late() : null;
    }
}
