package tern.rpc.client;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.TimeLimit;
import tern.rpc.cluster.Cluster;
import tern.rpc.cluster.Hashes;
import tern.rpc.cluster.Node;
import tern.rpc.cluster.Outcomes;
import tern.rpc.cluster.Target;
import tern.rpc.endpoint.Outcome;
import tern.rpc.endpoint.PublishedToken;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.UnsentCallException;

/**
 * The last step of a call on the client. Chooses a provider, sends the call, waits for the answer, and sends the call
 * again if that is safe. Thread-safe.
 */
final class EndpointInvoker implements AutoCloseable {

    private final ServiceKey service;
    private final Cluster cluster;
    private final RetryPolicy retries;
    private final NanoClock clock;
    private final Executor executor;
    private final ProviderFailures failures;
    private final ProviderWait wait;
    private final FurtherAttempts further;
    private volatile boolean passedOnUnseen;

    /**
     * @param executor runs probe callbacks
     * @param timer regularly checks whether a provider is available for waiting calls, and whether silent providers are
     *     alive
     */
    EndpointInvoker(
            ServiceKey service,
            Cluster cluster,
            RetryPolicy retries,
            NanoClock clock,
            Executor executor,
            ScheduledExecutorService timer) {
        this.service = service;
        this.cluster = cluster;
        this.retries = retries;
        this.clock = clock;
        this.executor = executor;
        this.failures = new ProviderFailures(cluster, clock);
        this.wait = new ProviderWait(cluster, clock, timer, failures);
        this.further = new FurtherAttempts(cluster, retries, clock, timer);
    }

    Cluster cluster() {
        return cluster;
    }

    /** Returns the object that describes why providers cannot be reached. */
    ProviderFailures failures() {
        return failures;
    }

    /**
     * Records that a filter has replaced a call's executor and then passed the call on. The call's {@link CallScope}
     * was therefore not notified.
     */
    void passedOnUnseen() {
        if (!passedOnUnseen) {
            passedOnUnseen = true;
        }
    }

    /**
     * Returns whether a filter of this client has ever replaced a call's executor. If so, a call may have been passed
     * on without a notification of its {@link CallScope}.
     */
    boolean mayPassOnUnseen() {
        return passedOnUnseen;
    }

    /** Returns the object that lets calls wait for a provider. */
    ProviderWait providerWait() {
        return wait;
    }

    /**
     * Returns the time limit for calls to the method: the limit set by a rule or, if no rule sets a limit, the method's
     * own limit. Rules do not affect streams.
     */
    @Nullable
    TimeLimit limit(ClientMethod method) {
        TimeLimit ruled =
                method.isStream() ? null : cluster.timeLimit(method.descriptor().name());
        return ruled == null ? method.limit() : ruled;
    }

    /**
     * Sends the call and blocks the current thread until the answer arrives.
     *
     * @param blocked receives each attempt, and can cancel the call; may be null
     */
    Response callAndWait(ClientMethod method, Invocation call, @Nullable BlockedCall blocked) throws Throwable {
        retries.called();
        Target used = null;
        RpcException before = null;
        // Whether a provider has executed the call: the highest value of all failed attempts, in the order NO, MAYBE,
        // YES.
        Executed executed = Executed.NO;
        for (int attempt = 1; ; attempt++) {
            Target target;
            try {
                target = next(method, call, used, blocked);
            } catch (RpcException e) {
                throw e.after(executed);
            }
            if (before != null && target == used && !awaitPushBack(before, call)) {
                throw before.after(executed);
            }
            used = target;
            target.retries().called();
            long started = clock.nanoTime();
            PendingCall pending = new PendingCall(forProvider(call, target), method.oneWay(), started, null);
            RpcException failure = null;
            target.node().begin(started);
            if (blocked != null) {
                blocked.attempts(target.endpoint(), pending);
            }
            try {
                ClientConnection connection = pending.isDone() ? null : connection(target, pending);
                if (connection != null) {
                    if (attempt == 1) {
                        further.watch(method, pending);
                    }
                    connection.send(pending);
                    probe(method, call, target, started);
                }
                return pending.await();
            } catch (RpcException e) {
                failure = e;
            } finally {
                ended(target, method, call, failure, started);
            }
            if (!further.again(method, call, failure, attempt, used, pending)) {
                throw failures.explained(failure, used, call).after(executed);
            }
            before = failure;
            executed = executed.or(failure.wasExecuted());
        }
    }

    /**
     * Chooses the provider for the next attempt. If no provider is available, waits for one if the call's settings
     * allow this.
     */
    private Target next(ClientMethod method, Invocation call, @Nullable Target used, @Nullable BlockedCall blocked) {
        checkDeadline(call);
        if (wait.isWaiting(method, call)) {
            wait.await(call, blocked);
        }
        return pick(method, call, used);
    }

    /**
     * Waits for the delay that the failed provider has requested, because the next attempt goes to the same provider.
     *
     * @return false if the remaining time of the call is too short
     */
    private boolean awaitPushBack(RpcException failure, Invocation call) {
        PushBack pushBack = PushBack.of(failure);
        if (pushBack == null) {
            return true;
        }
        if (!pushBack.fitsInto(call.deadline().remainingNanos(clock.nanoTime()))) {
            return false;
        }
        pushBack.await();
        return true;
    }

    /** Records an attempt's outcome in the provider's state. */
    void ended(Target target, ClientMethod method, Invocation call, @Nullable RpcException failure, long startedNanos) {
        ended(target, method, call, failure, startedNanos, false);
    }

    private void ended(
            Target target,
            ClientMethod method,
            Invocation call,
            @Nullable RpcException failure,
            long startedNanos,
            boolean isCopy) {
        long now = clock.nanoTime();
        boolean missing = failure != null && cluster.isMissing(target, method.descriptor(), failure, now);
        // a missing service or method does not show whether the provider's other methods are slow or failing
        boolean isMoved = FurtherAttempts.isMoved(failure);
        // a probe has a later deadline than the call that it copies
        Deadline deadline = isCopy ? Deadline.none() : call.deadline();
        Outcome outcome = missing || isMoved || failure instanceof UnsentCallException
                ? Outcome.CANCELLED
                : Outcomes.of(failure, deadline, now - startedNanos, method.usualTime(), now);
        if (isMoved) {
            outlasted(target, method, startedNanos);
        }
        boolean sentOneWay = method.oneWay() && failure == null;
        if (method.isStream()) {
            target.node().endStream(outcome, now);
        } else if (sentOneWay) {
            target.node().sentOneWay();
        } else if (isCopy) {
            long timeoutNanos = call.deadline().remainingNanos(startedNanos);
            target.node().endCopy(outcome, now - startedNanos, timeoutNanos, now, method.usualTime());
        } else {
            boolean executed = failure == null || failure.wasExecuted() != Executed.NO;
            target.node().end(outcome, executed, now - startedNanos, now, method.usualTime());
        }
        if (!sentOneWay && (failure == null || failure.wasExecuted() == Executed.YES)) {
            cluster.served(target, method.descriptor(), now);
        }
        cluster.ended(
                target,
                method.descriptor().distinctName(),
                CallTags.tag(call),
                CallTags.isForced(call),
                missing ? Outcome.FAILED : outcome,
                now - startedNanos);
    }

    /** Records in the provider's state that an attempt will be cancelled, because another provider answered first. */
    void outlasted(Target target, ClientMethod method, long startedNanos) {
        long now = clock.nanoTime();
        target.node().outlasted(now - startedNanos, now, method.usualTime());
    }

    /**
     * Sends a probe (a copy of an idempotent call) to a provider that was slow or failed, if a probe is due. The
     * outcome of the probe shows whether the provider has recovered. The caller does not wait for the probe. The probe
     * waits longer for its answer than the original call, because even a late answer shows that an overloaded provider
     * is serving its calls. Waiting probes with large arguments could occupy a lot of memory. Therefore, a probe drops
     * its arguments as soon as it has been sent, and no probe is sent while the provider does not read its requests.
     */
    void probe(ClientMethod method, Invocation call, Target target, long now) {
        if (!method.idempotent() || method.oneWay()) {
            return;
        }
        Target suspect =
                cluster.takeProbe(method.descriptor().distinctName(), CallTags.tag(call), CallTags.isForced(call), now);
        if (suspect == null || suspect == target) {
            return;
        }
        Invocation copied = call.withValues();
        PendingCall copy = new PendingCall(
                forProvider(call, suspect).withExecutor(executor).withDeadline(patient(call.deadline(), now)),
                false,
                now,
                (response, failure) ->
                        ended(suspect, method, copied, failure instanceof RpcException rpc ? rpc : null, now, true));
        copy.forgetArguments();
        suspect.node().beginCopy();
        ClientConnection connection = connection(suspect, copy);
        if (connection != null) {
            connection.send(copy);
        }
    }

    /** Returns the deadline of a probe, which is a copy of an idempotent call. */
    private static Deadline patient(Deadline ofCall, long now) {
        return ofCall.remainingNanos(now) < Node.COPY_WAIT_NANOS ? Deadline.at(now + Node.COPY_WAIT_NANOS) : ofCall;
    }

    /**
     * Returns the connection for an asynchronous attempt. Fails the attempt if the connection cannot be opened, for
     * example because the client's keys are unusable. An exception thrown by this method would not be handled, and the
     * attempt would stay in flight forever.
     *
     * @return null if the attempt has failed
     */
    @Nullable
    ClientConnection connection(Target target, PendingCall attempt) {
        try {
            return target.connection();
        } catch (Throwable e) {
            attempt.fail(new RpcException(
                    StatusCode.UNAVAILABLE,
                    attempt + " was not sent: no connection to " + target.endpoint() + " can be opened: "
                            + Thrown.text(e),
                    Executed.NO,
                    e));
            return null;
        }
    }

    /**
     * Throws DEADLINE_EXCEEDED if the call's deadline has passed, because the caller has then stopped waiting for the
     * answer.
     */
    void checkDeadline(Invocation call) {
        if (call.deadline().isExpired(clock.nanoTime())) {
            throw RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    call + " was not sent, because its deadline has passed: "
                            + call.deadline().origin(),
                    Executed.NO);
        }
    }

    /**
     * Counts a call, which increases the retry budget. Called by code that makes the call's attempts itself, without
     * this class.
     */
    void begun() {
        retries.called();
    }

    /**
     * Sends the call and returns immediately. When the call has ended, the call's executor runs {@code done}.
     */
    SentCall callAsync(ClientMethod method, Invocation call, PendingCall.Completion done) {
        retries.called();
        Hedging hedging = method.hedging();
        if (hedging != null) {
            HedgedCall hedged = new HedgedCall(this, method, hedging, call, done, clock);
            hedged.start();
            return hedged;
        }
        AsyncCall async = new AsyncCall(this, method, call, done);
        async.attempt();
        return async;
    }

    /**
     * Makes another attempt at the same provider. If the provider requested a delay, runs the attempt on the call's
     * executor after this delay. Otherwise runs it immediately.
     *
     * @param failure the previous attempt's failure
     * @return false if the remaining time of the call is too short
     */
    boolean afterPushBack(RpcException failure, Invocation call, Runnable attempt) {
        PushBack pushBack = PushBack.of(failure);
        if (pushBack == null) {
            attempt.run();
            return true;
        }
        if (!pushBack.fitsInto(call.deadline().remainingNanos(clock.nanoTime()))) {
            return false;
        }
        wait.later(() -> ProviderWait.execute(call, attempt), pushBack.nanos());
        return true;
    }

    PendingCall pending(ClientMethod method, Invocation call, Target target, PendingCall.Completion completion) {
        return new PendingCall(forProvider(call, target), method.oneWay(), clock.nanoTime(), completion);
    }

    /**
     * Adds the token that the provider has published in the registry. The published token replaces the client's token,
     * because the provider accepts only the published token. A token that the application has set for the call is kept.
     */
    private static Invocation forProvider(Invocation call, Target target) {
        PublishedToken token = target.attributes().token();
        if (token == null || call.options().headers().contains(AcceptedTokens.ATTACHMENT)) {
            return call;
        }
        return call.withMetadata(call.metadata().copy().put(AcceptedTokens.ATTACHMENT, token.text()));
    }

    /** Returns the object that decides whether a call is attempted again. */
    FurtherAttempts further() {
        return further;
    }

    /** Chooses the provider for the next attempt, and avoids {@code except} if possible. */
    Target pick(ClientMethod method, Invocation call, @Nullable Target except) {
        return cluster.pick(
                method.descriptor().distinctName(),
                key(method, call),
                CallTags.tag(call),
                CallTags.isForced(call),
                except,
                clock.nanoTime());
    }

    /** Chooses a usable provider other than {@code besides}. Returns null if no such provider exists. */
    @Nullable
    Target pickElsewhere(ClientMethod method, Invocation call, Target besides) {
        Target picked;
        try {
            picked = pick(method, call, besides);
        } catch (Throwable e) {
            // The balancer or the endpoint source has thrown an exception. The call then has no second attempt.
            return null;
        }
        return picked == besides || !picked.isUsable() ? null : picked;
    }

    private long key(ClientMethod method, Invocation call) {
        Object key = call.options().key();
        if (key == null && method.keyArgument() != ClientMethod.NO_KEY) {
            key = call.arguments()[method.keyArgument()];
        } else if (key == null && cluster.isChosenByKey() && !method.isStream() && call.arguments().length > 0) {
            key = call.arguments()[0]; // The default key for consistent hashing is the first argument, as in Dubbo.
        }
        return key == null ? 0 : Hashes.ofKey(key);
    }

    boolean isAvailable() {
        return cluster.isAvailable();
    }

    ServiceKey service() {
        return service;
    }

    List<ClientConnection> connections() {
        return cluster.targets().stream()
                .map(target -> target.node().link().opened())
                .filter(Objects::nonNull)
                .toList();
    }

    List<Provider> providers() {
        return cluster.targets().stream()
                .filter(target -> target.node().link().opened() != null)
                .map(target -> new Provider(target.connection(), target.attributes()))
                .toList();
    }

    @Override
    public void close() {
        cluster.close();
        wait.close();
    }
}
