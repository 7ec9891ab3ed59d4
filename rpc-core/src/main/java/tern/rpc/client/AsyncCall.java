package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/** A call that nobody waits for, over all its attempts. One attempt at a time; {@link #cancel()} from any thread. */
final class AsyncCall implements PendingCall.Completion {

    private final EndpointInvoker endpoints;
    private final ClientMethod method;
    private final Invocation call;
    private final PendingCall.Completion done;

    private int attempts; // the thread of the present attempt only
    private @Nullable ClientConnection used; // likewise
    private volatile @Nullable PendingCall pending;
    private volatile boolean cancelled;

    AsyncCall(EndpointInvoker endpoints, ClientMethod method, Invocation call, PendingCall.Completion done) {
        this.endpoints = endpoints;
        this.method = method;
        this.call = call;
        this.done = done;
    }

    void attempt() {
        attempts++;
        ClientConnection connection;
        try {
            endpoints.checkDeadline(call);
            connection = endpoints.pick(used);
        } catch (RpcException e) {
            done.completed(null, e);
            return;
        }
        used = connection;
        PendingCall attempt = endpoints.pending(method, call, this);
        pending = attempt;
        if (cancelled) {
            attempt.fail(cancellation());
        } else {
            connection.send(attempt);
        }
    }

    @Override
    public void completed(@Nullable Response response, @Nullable Throwable failure) {
        ClientConnection connection = used;
        if (failure instanceof RpcException rpc
                && connection != null
                && !cancelled
                && endpoints.again(method, call, rpc, attempts, connection)) {
            attempt();
        } else {
            done.completed(response, failure);
        }
    }

    void cancel() {
        cancelled = true;
        PendingCall attempt = pending;
        if (attempt != null) {
            attempt.fail(cancellation());
        }
    }

    private RpcException cancellation() {
        return RpcException.refusal(StatusCode.CANCELLED, call + " was cancelled by the caller", Executed.MAYBE);
    }
}
