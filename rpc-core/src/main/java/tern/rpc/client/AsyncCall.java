package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;
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
    private volatile @Nullable ClientConnection used;
    private @Nullable Node node; // used by the thread of the present attempt only
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
        Node picked;
        try {
            endpoints.checkDeadline(call);
            picked = endpoints.pick(used);
        } catch (Throwable e) { // also thrown by a picker or resolver
            done.completed(null, e);
            return;
        }
        ClientConnection connection = picked.connection();
        used = connection;
        PendingCall attempt = endpoints.pending(method, call, this);
        node = picked;
        picked.begin(attempt.startedNanos());
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
        PendingCall attempt = pending;
        Node left = node;
        if (left != null && attempt != null) {
            endpoints.ended(left, method, failure instanceof RpcException rpc ? rpc : null, attempt.startedNanos());
        }
        if (failure instanceof RpcException rpc
                && connection != null
                && attempt != null
                && !cancelled
                && endpoints.again(method, call, rpc, attempts, connection, attempt)) {
            attempt();
        } else {
            done.completed(
                    response,
                    failure instanceof RpcException rpc && connection != null
                            ? endpoints.withOtherAddresses(rpc, connection)
                            : failure);
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
        ClientConnection connection = used;
        if (attempt != null && connection != null) {
            attempt.fail(TimeOuts.late(attempt, connection.endpoint(), connection.isConnecting()));
        }
    }

    /** The last address of the call, for messages; null if there is none yet. */
    @Nullable
    Endpoint endpoint() {
        ClientConnection connection = used;
        return connection == null ? null : connection.endpoint();
    }

    private RpcException cancellation() {
        return RpcException.refusal(StatusCode.CANCELLED, call + " was cancelled by the caller", Executed.MAYBE);
    }
}
