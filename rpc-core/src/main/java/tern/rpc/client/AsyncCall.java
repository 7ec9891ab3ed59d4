package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.cluster.Target;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.RemoteFailures;
import tern.rpc.transport.TimeOuts;

/**
 * An asynchronous call with all its attempts. Attempts are made one after another. Any thread may call
 * {@link #cancel()}.
 */
final class AsyncCall implements PendingCall.Completion, SentCall {

    private final EndpointInvoker endpoints;
    private final ClientMethod method;
    private final Invocation call;
    private final PendingCall.Completion done;

    private volatile int attempts; // Only the thread of the current attempt writes the field "attempts".
    private volatile @Nullable Target used;
    private volatile @Nullable PendingCall pending;
    // the last wait for a provider; the wait may have ended
    private volatile ProviderWait.@Nullable WaitingCall waiting;
    private volatile boolean cancelled;
    private volatile boolean last;
    // The previous attempt's failure, used only by the thread of the current attempt.
    private @Nullable RpcException before;
    // Whether a failed attempt was executed. YES: a provider has executed at least one attempt. MAYBE: a provider may
    // have executed an attempt. NO: no attempt was executed. Only the thread of the current attempt uses this value.
    private Executed executed = Executed.NO;

    AsyncCall(EndpointInvoker endpoints, ClientMethod method, Invocation call, PendingCall.Completion done) {
        this.endpoints = endpoints;
        this.method = method;
        this.call = call;
        this.done = done;
    }

    void attempt() {
        if (!cancelled && endpoints.providerWait().isWaiting(method, call)) {
            waiting = endpoints
                    .providerWait()
                    .whenReady(
                            call,
                            () -> cancelled ? cancellation() : null,
                            this::attemptNow,
                            failure -> end(null, failure));
        } else {
            attemptNow();
        }
    }

    private void attemptNow() {
        int number = attempts + 1; // Attempts are made one after another, so the counter needs no lock.
        attempts = number;
        Target chosen;
        try {
            endpoints.checkDeadline(call);
            chosen = endpoints.pick(method, call, used);
        } catch (Throwable e) {
            // The call cannot be attempted: its deadline has passed, no provider is known, or the balancer or the
            // endpoint source threw an exception.
            end(null, e);
            return;
        }
        RpcException failed = before;
        if (failed == null || chosen != used) {
            send(chosen);
        } else if (!endpoints.afterPushBack(failed, call, () -> send(chosen))) {
            end(null, failed);
        }
    }

    /**
     * Sends the call without retries. If the provider lacks the service or the method, the call is still sent to
     * another provider.
     */
    void attemptOnce(Target picked) {
        last = true;
        attempts = 1;
        send(picked);
    }

    private void send(Target picked) {
        used = picked;
        picked.retries().called();
        PendingCall attempt = endpoints.pending(method, call, picked, this);
        picked.node().begin(attempt.startedNanos());
        pending = attempt;
        if (cancelled) {
            attempt.fail(cancellation());
            return;
        }
        ClientConnection connection = endpoints.connection(picked, attempt);
        if (connection != null) {
            if (attempts == 1 && !last) {
                endpoints.further().watch(method, attempt);
            }
            connection.send(attempt);
            endpoints.probe(method, call, picked, attempt.startedNanos());
        }
    }

    @Override
    public void completed(@Nullable Response response, @Nullable Throwable failure) {
        Target left = used;
        PendingCall attempt = pending;
        if (left != null && attempt != null) {
            endpoints.ended(
                    left, method, call, failure instanceof RpcException rpc ? rpc : null, attempt.startedNanos());
        }
        if (failure instanceof RpcException rpc
                && left != null
                && attempt != null
                && !cancelled
                && (!last || RemoteFailures.missing(rpc) != RemoteFailures.Missing.NOTHING)
                && endpoints.further().again(method, call, rpc, attempts, left, attempt)) {
            before = rpc;
            executed = executed.or(rpc.wasExecuted());
            attempt();
        } else {
            end(
                    response,
                    failure instanceof RpcException rpc && left != null
                            ? endpoints.failures().explained(rpc, left, call)
                            : failure);
        }
    }

    private void end(@Nullable Response response, @Nullable Throwable failure) {
        done.completed(response, failure instanceof RpcException rpc ? rpc.after(executed) : failure);
    }

    /**
     * Prevents retries after the current attempt, unless the provider lacks the service or the method. Any thread may
     * call this.
     */
    void lastAttempt() {
        last = true;
    }

    /** Returns the number of attempts so far. Any thread may call this. */
    int attempts() {
        return attempts;
    }

    /** Returns the provider of the current attempt; null before the first attempt. Any thread may call this. */
    @Nullable
    Target target() {
        return used;
    }

    /**
     * Returns the start of the current attempt, or {@code otherwise} if no attempt has been made. Any thread may call
     * this.
     */
    long startedNanos(long otherwise) {
        PendingCall attempt = pending;
        return attempt == null ? otherwise : attempt.startedNanos();
    }

    /** Cancels the call because another provider answered first. */
    void lose() {
        Target slow = used;
        PendingCall attempt = pending;
        if (slow != null && attempt != null) {
            endpoints.outlasted(slow, method, attempt.startedNanos());
        }
        cancel();
    }

    @Override
    public void cancel() {
        cancelled = true;
        PendingCall attempt = pending;
        if (attempt != null) {
            attempt.fail(cancellation());
        }
    }

    @Override
    public void expire() {
        ProviderWait.WaitingCall wait = waiting;
        if (wait != null) {
            wait.lookNow();
        }
        PendingCall attempt = pending;
        Target target = used;
        if (attempt != null && target != null) {
            // If a connection attempt is in progress, the error message reports a missing connection instead of a
            // missing answer.
            boolean isConnecting = target.connection().isConnecting();
            boolean wasHeard = target.connection().wasHeard();
            attempt.fail(executed -> TimeOuts.late(attempt, target.endpoint(), isConnecting, wasHeard, executed));
        }
    }

    @Override
    public @Nullable Endpoint endpoint() {
        Target target = used;
        return target == null ? null : target.endpoint();
    }

    private RpcException cancellation() {
        return RpcException.refusal(StatusCode.CANCELLED, call + " was cancelled by the caller", Executed.MAYBE);
    }
}
