package tern.rpc.client;

import java.util.concurrent.ScheduledFuture;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.cluster.Target;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.PendingCall;

/**
 * A call to an idempotent method that is also sent to a second provider if the first provider takes unusually long. The
 * first answer is the result. The slower attempt is then cancelled, and its duration so far is recorded for its
 * provider. The call fails only if neither attempt can succeed. Hedged calls are not retried, and retried calls are not
 * hedged. Thread-safe.
 */
final class HedgedCall implements SentCall {

    private final EndpointInvoker endpoints;
    private final ClientMethod method;
    private final Hedging hedging;
    private final Invocation call;
    private final PendingCall.Completion done;
    private final NanoClock clock;
    private final AsyncCall first;

    // This object's lock guards "second", "planned", "failed", "over" and "cancelled".
    private @Nullable AsyncCall second;
    private @Nullable ScheduledFuture<?> planned;
    private @Nullable RpcException failed;
    private boolean over;
    private boolean cancelled;

    HedgedCall(
            EndpointInvoker endpoints,
            ClientMethod method,
            Hedging hedging,
            Invocation call,
            PendingCall.Completion done,
            NanoClock clock) {
        this.endpoints = endpoints;
        this.method = method;
        this.hedging = hedging;
        this.call = call;
        this.done = done;
        this.clock = clock;
        this.first = new AsyncCall(endpoints, method, call, this::firstEnded);
    }

    void start() {
        synchronized (this) {
            planned = hedging.plan(this::hedge, call.executor());
        }
        first.attempt();
    }

    private void hedge() {
        Target besides = first.target();
        if (besides == null || isSettled() || !hedging.spend()) {
            return;
        }
        Target other = endpoints.pickElsewhere(method, call, besides);
        AsyncCall extra = new AsyncCall(endpoints, method, call, this::secondEnded);
        synchronized (this) {
            if (other == null || isSettled()) {
                // The second attempt of the call is not made. Its permit is returned to the budget, and the first
                // attempt may be retried.
                hedging.giveBack();
                return;
            }
            second = extra;
            first.lastAttempt();
        }
        extra.attemptOnce(other);
        hedging.sent();
        if (isSettled()) {
            extra.cancel(); // The call ended while its second attempt was being sent, so this attempt is cancelled.
        }
    }

    private synchronized boolean isSettled() {
        return over || cancelled || first.attempts() > 1;
    }

    private void firstEnded(@Nullable Response response, @Nullable Throwable failure) {
        ended(first, response, failure);
    }

    private void secondEnded(@Nullable Response response, @Nullable Throwable failure) {
        AsyncCall extra;
        synchronized (this) {
            extra = second;
        }
        if (extra != null) {
            ended(extra, response, failure);
        }
    }

    private void ended(AsyncCall attempt, @Nullable Response response, @Nullable Throwable failure) {
        AsyncCall loser;
        Throwable outcome = failure;
        synchronized (this) {
            if (over) {
                return;
            }
            boolean otherRuns = second != null && failed == null;
            if (failure instanceof RpcException rpc && rpc.wasExecuted() != Executed.YES) {
                if (otherRuns) {
                    failed = rpc;
                    return;
                }
                outcome = failed != null && rpc.wasExecuted() == Executed.NO ? failed : rpc;
            }
            over = true;
            loser = !otherRuns ? null : attempt == first ? second : first;
            if (planned != null) {
                planned.cancel(false);
            }
        }
        long now = clock.nanoTime();
        hedging.took(now - attempt.startedNanos(now));
        if (loser != null) {
            hedging.took(now - loser.startedNanos(now));
            loser.lose();
        }
        done.completed(response, outcome);
    }

    @Override
    public void cancel() {
        AsyncCall extra;
        synchronized (this) {
            cancelled = true;
            extra = second;
        }
        first.cancel();
        if (extra != null) {
            extra.cancel();
        }
    }

    @Override
    public void expire() {
        AsyncCall extra;
        synchronized (this) {
            extra = second;
        }
        first.expire();
        if (extra != null) {
            extra.expire();
        }
    }

    @Override
    public @Nullable Endpoint endpoint() {
        return first.endpoint();
    }
}
