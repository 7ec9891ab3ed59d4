package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.cluster.Target;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.TimeOuts;

/**
 * An asynchronous call over all its attempts. There is one attempt at a time. Any thread may call {@link #cancel()}.
 */
final class AsyncCall implements PendingCall.Completion {

    private final EndpointInvoker endpoints;
    private final ClientMethod method;
    private final Invocation call;
    private final PendingCall.Completion done;

    private int attempts; // used by the thread of the present attempt only
    private volatile @Nullable Target used;
    private volatile @Nullable PendingCall pending;
    private volatile boolean cancelled;

    AsyncCall(EndpointInvoker endpoints, ClientMethod method, Invocation call, PendingCall.Completion done) {
        this.endpoints = endpoints;
        this.method = method;
        this.call = call;
        this.done = done;
    }

    void attempt() {
        if (!cancelled && endpoints.isWaiting(method, call)) {
            endpoints.whenReady(
                    call,
                    () -> cancelled ? cancellation() : null,
                    this::attemptNow,
                    failure -> done.completed(null, failure));
        } else {
            attemptNow();
        }
    }

    private void attemptNow() {
        attempts++;
        Target picked;
        try {
            endpoints.checkDeadline(call);
            picked = endpoints.pick(method, call, used);
        } catch (Throwable e) { // also thrown by a balancer or source
            done.completed(null, e);
            return;
        }
        used = picked;
        PendingCall attempt = endpoints.pending(method, call, this);
        picked.node().begin(attempt.startedNanos());
        pending = attempt;
        if (cancelled) {
            attempt.fail(cancellation());
        } else {
            picked.connection().send(attempt);
            endpoints.probe(method, call, picked, attempt.startedNanos());
        }
    }

    @Override
    public void completed(@Nullable Response response, @Nullable Throwable failure) {
        Target left = used;
        PendingCall attempt = pending;
        if (left != null && attempt != null) {
            endpoints.ended(left, method, failure instanceof RpcException rpc ? rpc : null, attempt.startedNanos());
        }
        if (failure instanceof RpcException rpc
                && left != null
                && attempt != null
                && !cancelled
                && endpoints.again(method, call, rpc, attempts, left, attempt)) {
            attempt();
        } else {
            done.completed(
                    response,
                    failure instanceof RpcException rpc && left != null ? endpoints.explained(rpc, left) : failure);
        }
    }

    void cancel() {
        cancelled = true;
        PendingCall attempt = pending;
        if (attempt != null) {
            attempt.fail(cancellation());
        }
    }

    /**
     * Ends the call because the caller noticed the deadline before the connection did. The filters decide about the
     * failure.
     */
    void expire() {
        PendingCall attempt = pending;
        Target target = used;
        if (attempt != null && target != null) {
            boolean isConnecting = target.connection().isConnecting(); // false if calls wait for its first sign
            attempt.fail(TimeOuts.late(attempt, target.endpoint(), isConnecting));
        }
    }

    /** The last address of the call, for messages; null if there is none yet. */
    @Nullable
    Endpoint endpoint() {
        Target target = used;
        return target == null ? null : target.endpoint();
    }

    private RpcException cancellation() {
        return RpcException.refusal(StatusCode.CANCELLED, call + " was cancelled by the caller", Executed.MAYBE);
    }
}
