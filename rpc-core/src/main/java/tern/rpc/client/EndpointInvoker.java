package tern.rpc.client;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.TimeLimit;
import tern.rpc.cluster.Cluster;
import tern.rpc.cluster.Hashes;
import tern.rpc.cluster.Outcomes;
import tern.rpc.cluster.Target;
import tern.rpc.endpoint.Outcome;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/**
 * The last step on the client: picks a provider, sends the call, waits, and sends it again if that is safe.
 * Thread-safe.
 */
final class EndpointInvoker implements AutoCloseable {

    private static final int MAX_ADDRESSES_NAMED = 5;

    /** Headers: the first one contains the tag of a call, the second one forbids providers without a tag. */
    private static final String TAG = "dubbo.tag";

    private static final String FORCE_TAG = "dubbo.force.tag";

    /** A call that waits for a provider looks for one at this interval. */
    private static final long LOOK_EVERY_MILLIS = 10;

    private final ServiceKey service;
    private final Cluster cluster;
    private final RetryPolicy retries;
    private final NanoClock clock;
    private final Executor executor;
    private final ScheduledExecutorService timer;

    /**
     * @param executor runs the completion of probes
     * @param timer looks for providers on behalf of calls that wait
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
        this.timer = timer;
    }

    Cluster cluster() {
        return cluster;
    }

    /** The time limit of the method's calls: the one that rules set, else its own. Rules leave streams alone. */
    @Nullable
    TimeLimit limit(ClientMethod method) {
        TimeLimit ruled =
                method.isStream() ? null : cluster.timeLimit(method.descriptor().name());
        return ruled == null ? method.limit() : ruled;
    }

    /**
     * Sends the call and waits for its answer on this thread.
     *
     * @param last receives the provider of each attempt; null if not needed
     */
    Response callAndWait(ClientMethod method, Invocation call, @Nullable LastEndpoint last) throws Throwable {
        retries.called();
        Target used = null;
        RpcException before = null;
        for (int attempt = 1; ; attempt++) {
            checkDeadline(call);
            if (isWaiting(method, call)) {
                awaitProvider(call);
            }
            Target target = pick(method, call, used);
            if (before != null && target == used && !awaitPushBack(before, call)) {
                throw before;
            }
            used = target;
            target.retries().called();
            if (last != null) {
                last.set(target.endpoint());
            }
            long started = clock.nanoTime();
            PendingCall pending = new PendingCall(call, method.oneWay(), started, null);
            RpcException failure = null;
            target.node().begin(started);
            try {
                target.connection().send(pending);
                probe(method, call, target, started);
                return pending.await();
            } catch (RpcException e) {
                failure = e;
            } finally {
                ended(target, method, failure, started);
            }
            if (!again(method, call, failure, attempt, used, pending)) {
                throw explained(failure, used);
            }
            before = failure;
        }
    }

    /**
     * Waits for the time that the failed provider asked for, because the next attempt goes to the same provider.
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

    /** Reports the outcome of an ended attempt to the node. */
    void ended(Target target, ClientMethod method, @Nullable RpcException failure, long startedNanos) {
        long now = clock.nanoTime();
        Outcome outcome = Outcomes.of(failure);
        if (method.isStream()) {
            target.node().endStream(outcome, now);
        } else if (method.oneWay() && failure == null) {
            target.node().sentOneWay();
        } else {
            target.node().end(outcome, now - startedNanos, now, method.usualTime());
        }
        cluster.ended(target, outcome, now - startedNanos);
    }

    /** The attempt will be cancelled because another provider answered first; its node learns that it took longer. */
    void outlasted(Target target, ClientMethod method, long startedNanos) {
        long now = clock.nanoTime();
        target.node().outlasted(now - startedNanos, now, method.usualTime());
    }

    /**
     * Sends a copy of an idempotent call to a provider that was slow or failed, if such a probe is due. Its outcome
     * shows whether the provider has recovered. The caller does not wait for the probe.
     */
    void probe(ClientMethod method, Invocation call, Target target, long now) {
        if (!method.idempotent() || method.oneWay()) {
            return;
        }
        Target suspect = cluster.takeProbe(method.descriptor().name(), tag(call), isTagForced(call), now);
        if (suspect == null || suspect == target) {
            return;
        }
        suspect.node().beginCopy(now);
        suspect.connection()
                .send(new PendingCall(
                        call.withExecutor(executor),
                        false,
                        now,
                        (response, failure) ->
                                ended(suspect, method, failure instanceof RpcException rpc ? rpc : null, now)));
    }

    /**
     * Adds to the failure of the last attempt, which names one address, the reasons why no other provider took the
     * call. The result names up to {@value #MAX_ADDRESSES_NAMED} addresses.
     */
    RpcException explained(RpcException failure, Target used) {
        if (failure.code() != StatusCode.UNAVAILABLE || failure.wasExecuted() != Executed.NO) {
            return failure;
        }
        List<Target> others =
                cluster.targets().stream().filter(target -> target != used).toList();
        String why = cluster.whyAvoided(clock.nanoTime());
        if (others.isEmpty() || used.isUsable() || others.stream().anyMatch(Target::isUsable)) {
            return why.isEmpty() ? failure : refusal(failure.status().description() + why);
        }
        int more = others.size() - MAX_ADDRESSES_NAMED;
        return refusal(failure.status().description()
                + (why.isEmpty()
                        ? "; the " + (others.size() + 1) + " addresses are all out of reach, also "
                                + others.stream()
                                        .limit(MAX_ADDRESSES_NAMED)
                                        .map(this::withReason)
                                        .collect(Collectors.joining(", "))
                                + (more > 0 ? " and " + more + " more" : "")
                        : why));
    }

    private static RpcException refusal(String text) {
        return RpcException.refusal(StatusCode.UNAVAILABLE, text, Executed.NO);
    }

    private String withReason(Target target) {
        ClientConnection connection = target.node().opened();
        String reason = connection == null ? "not connected yet" : connection.lastFailure();
        long seconds = TimeUnit.NANOSECONDS.toSeconds(target.node().outOfReachNanos(clock.nanoTime()));
        String since = seconds == 0 ? "" : (reason.isEmpty() ? "" : ", ") + "for " + seconds + " s";
        return target.endpoint() + (reason.isEmpty() && since.isEmpty() ? "" : " (" + reason + since + ")");
    }

    /** Refuses a call after the deadline of the call being served, because nobody waits for the answer any more. */
    void checkDeadline(Invocation call) {
        if (call.deadline().isExpired(clock.nanoTime())) {
            throw RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    call + " was not sent, its time is over: " + call.deadline().origin(),
                    Executed.NO);
        }
    }

    /** Counts a call whose attempts the caller of this method makes itself. */
    void begun() {
        retries.called();
    }

    /** Sends the call. Its end is reported on the call's executor. */
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
     * Runs an attempt at the same provider after the time that the provider asked for, on the executor of the call.
     *
     * @param failure the failure of the previous attempt
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
        timer.schedule(() -> call.executor().execute(attempt), pushBack.nanos(), TimeUnit.NANOSECONDS);
        return true;
    }

    PendingCall pending(ClientMethod method, Invocation call, PendingCall.Completion completion) {
        return new PendingCall(call, method.oneWay(), clock.nanoTime(), completion);
    }

    /**
     * @param number the number of the failed attempt, from 1
     * @param used the provider of that attempt
     */
    boolean again(
            ClientMethod method, Invocation call, RpcException failure, int number, Target used, PendingCall attempt) {
        long remaining = call.deadline().remainingNanos(clock.nanoTime());
        if (waitsForReady(method, call)
                && failure.code() == StatusCode.UNAVAILABLE
                && failure.wasExecuted() == Executed.NO
                && !used.isUsable()
                && remaining > 0) {
            return true; // no connection was available, so the call still waits for one
        }
        return retries.again(
                method, failure, number, canGoElsewhere(failure, used, attempt), remaining, used.retries());
    }

    /**
     * Whether another connection can take the call: that of another available provider, or, after UNAVAILABLE, of a
     * provider that is being connected. If the attempt's connection is gone, the same provider counts too, because a
     * replacement may be ready before the caller sees the failure.
     */
    private boolean canGoElsewhere(RpcException failure, Target used, PendingCall attempt) {
        boolean unavailable = failure.code() == StatusCode.UNAVAILABLE;
        boolean sameProvider = unavailable && attempt.isCarrierGone();
        for (Target candidate : cluster.targets()) {
            if (unavailable && candidate.node().isConnecting()) {
                return true;
            }
            if (candidate.isUsable() && (sameProvider || candidate != used)) {
                return true;
            }
        }
        return false;
    }

    /** The provider of the next attempt, if possible not that of the previous attempt. */
    Target pick(ClientMethod method, Invocation call, @Nullable Target except) {
        return cluster.pick(
                method.descriptor().name(), key(method, call), tag(call), isTagForced(call), except, clock.nanoTime());
    }

    /** A usable provider other than {@code besides}; null if there is none. */
    @Nullable
    Target pickElsewhere(ClientMethod method, Invocation call, Target besides) {
        Target picked;
        try {
            picked = pick(method, call, besides);
        } catch (Throwable e) { // may also be thrown by a balancer or source; the first attempt continues
            return null;
        }
        return picked == besides || !picked.isUsable() ? null : picked;
    }

    private static long key(ClientMethod method, Invocation call) {
        Object key = call.options().key();
        if (key == null && method.keyArgument() != ClientMethod.NO_KEY) {
            key = call.arguments()[method.keyArgument()];
        }
        return key == null ? 0 : Hashes.ofKey(key);
    }

    private static String tag(Invocation call) {
        return call.metadata().isEmpty()
                ? ""
                : Objects.requireNonNullElse(call.metadata().get(TAG), "");
    }

    private static boolean isTagForced(Invocation call) {
        return !call.metadata().isEmpty()
                && Boolean.parseBoolean(call.metadata().get(FORCE_TAG));
    }

    // ---- calls that wait for a provider

    private static boolean waitsForReady(ClientMethod method, Invocation call) {
        Boolean chosen = call.options().isWaitingForReady();
        return chosen == null ? method.waitForReady() : chosen;
    }

    /** Whether the call now waits, because no provider is available. */
    boolean isWaiting(ClientMethod method, Invocation call) {
        return waitsForReady(method, call) && !cluster.canTake(call.method().name(), tag(call), isTagForced(call));
    }

    private void awaitProvider(Invocation call) {
        while (!cluster.canTake(call.method().name(), tag(call), isTagForced(call))) {
            cluster.attempt();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_EVERY_MILLIS));
            if (Thread.interrupted()) {
                Thread.currentThread().interrupt();
                throw RpcException.refusal(
                        StatusCode.CANCELLED, call + ": the calling thread was interrupted", Executed.NO);
            }
            checkWait(call);
        }
    }

    /**
     * Continues as soon as there is a provider. Fails the call if it is cancelled first, or its deadline passes.
     *
     * @param cancelled returns the failure of a cancelled call, or null
     * @param next runs on the call's executor, like {@code failed}
     */
    void whenReady(
            Invocation call, Supplier<@Nullable RpcException> cancelled, Runnable next, Consumer<RpcException> failed) {
        cluster.attempt();
        boolean over = cancelled.get() != null
                || call.deadline().isExpired(clock.nanoTime())
                || cluster.canTake(call.method().name(), tag(call), isTagForced(call));
        try {
            if (over) {
                call.executor().execute(() -> afterWait(call, cancelled, next, failed));
            } else {
                timer.schedule(
                        () -> whenReady(call, cancelled, next, failed), LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
            }
        } catch (RejectedExecutionException e) {
            next.run(); // the closed client fails the call
        }
    }

    private void afterWait(
            Invocation call, Supplier<@Nullable RpcException> cancelled, Runnable next, Consumer<RpcException> failed) {
        RpcException reason = cancelled.get();
        try {
            checkWait(call);
        } catch (RpcException late) {
            reason = reason == null ? late : reason;
        }
        if (reason == null) {
            next.run();
        } else {
            failed.accept(reason);
        }
    }

    /** Refuses a call whose time ran out before there was a provider. */
    private void checkWait(Invocation call) {
        if (call.deadline().isExpired(clock.nanoTime())) {
            throw RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    call + " waited for a provider until its time was over: "
                            + call.deadline().origin() + "; " + whyNobody(call),
                    Executed.NO);
        }
    }

    private String whyNobody(Invocation call) {
        String why = cluster.whyNobody(tag(call), isTagForced(call), clock.nanoTime());
        return why.isEmpty() ? failures() : why;
    }

    // ---- figures

    boolean isAvailable() {
        return cluster.isAvailable();
    }

    /** Each address with the reason why it cannot be reached, for messages. */
    String failures() {
        List<Target> targets = cluster.targets();
        return targets.isEmpty()
                ? cluster.sourceName() + ": no address found"
                : targets.stream()
                        .limit(MAX_ADDRESSES_NAMED)
                        .map(EndpointInvoker::failure)
                        .collect(Collectors.joining("; "));
    }

    private static String failure(Target target) {
        ClientConnection connection = target.node().opened();
        return target.endpoint() + ": " + (connection == null ? "not connected yet" : connection.lastFailure());
    }

    ServiceKey service() {
        return service;
    }

    List<ClientConnection> connections() {
        return cluster.targets().stream()
                .map(target -> target.node().opened())
                .filter(Objects::nonNull)
                .toList();
    }

    List<Provider> providers() {
        return cluster.targets().stream()
                .filter(target -> target.node().opened() != null)
                .map(target -> new Provider(target.connection(), target.attributes()))
                .toList();
    }

    @Override
    public void close() {
        cluster.close();
    }
}
