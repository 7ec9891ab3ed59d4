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
 * The last step of a call on the client: it chooses a provider, sends the call, waits for the answer, and sends the
 * call again if that is safe. Thread-safe.
 */
final class EndpointInvoker implements AutoCloseable {

    private static final int MAX_ADDRESSES_NAMED = 5;

    /** The header that contains the tag of a call. The header {@link #FORCE_TAG} excludes providers without a tag. */
    private static final String TAG = "dubbo.tag";

    private static final String FORCE_TAG = "dubbo.force.tag";

    /** The interval at which a call that waits for a provider checks whether one is available. */
    private static final long LOOK_EVERY_MILLIS = 10;

    private final ServiceKey service;
    private final Cluster cluster;
    private final RetryPolicy retries;
    private final NanoClock clock;
    private final Executor executor;
    private final ScheduledExecutorService timer;

    /**
     * @param executor completes probes
     * @param timer checks for providers on behalf of waiting calls
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

    /**
     * The time limit for calls of the method: the limit that rules set, or otherwise the limit of the method itself.
     * Rules do not affect streams.
     */
    @Nullable
    TimeLimit limit(ClientMethod method) {
        TimeLimit ruled =
                method.isStream() ? null : cluster.timeLimit(method.descriptor().name());
        return ruled == null ? method.limit() : ruled;
    }

    /**
     * Sends the call and blocks this thread until the answer arrives.
     *
     * @param last receives the provider of each attempt; may be null
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
     * Waits for as long as the failed provider requested, because the next attempt goes to the same provider.
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

    /** Reports the outcome of an attempt that has ended to the node of its provider. */
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

    /**
     * Reports to the node of a provider that its attempt took longer than that of another provider and will be
     * cancelled.
     */
    void outlasted(Target target, ClientMethod method, long startedNanos) {
        long now = clock.nanoTime();
        target.node().outlasted(now - startedNanos, now, method.usualTime());
    }

    /**
     * Sends a copy of an idempotent call to a provider that was slow or failed, if a probe is due. The outcome of the
     * copy shows whether the provider has recovered. The caller does not wait for it.
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
     * Adds to the failure of the last attempt why no other provider accepted the call. The message then names up to
     * {@value #MAX_ADDRESSES_NAMED} further addresses.
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

    /**
     * Throws DEADLINE_EXCEEDED if the deadline of the call has passed, because its caller no longer waits for the
     * answer.
     */
    void checkDeadline(Invocation call) {
        if (call.deadline().isExpired(clock.nanoTime())) {
            throw RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    call + " was not sent, its time is over: " + call.deadline().origin(),
                    Executed.NO);
        }
    }

    /** Counts a call whose attempts the calling code makes itself. */
    void begun() {
        retries.called();
    }

    /** Sends the call. The executor of the call runs the completion. */
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
     * Runs an attempt to the same provider on the executor of the call, after the time that the provider requested.
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
     * Whether to make another attempt.
     *
     * @param number the number of the failed attempt, starting from 1
     * @param used the provider of the failed attempt
     */
    boolean again(
            ClientMethod method, Invocation call, RpcException failure, int number, Target used, PendingCall attempt) {
        long remaining = call.deadline().remainingNanos(clock.nanoTime());
        if (waitsForReady(method, call)
                && failure.code() == StatusCode.UNAVAILABLE
                && failure.wasExecuted() == Executed.NO
                && !used.isUsable()
                && remaining > 0) {
            return true; // no connection was available, so the call continues to wait for one
        }
        return retries.again(
                method, failure, number, canGoElsewhere(failure, used, attempt), remaining, used.retries());
    }

    /**
     * Whether another connection can accept the call. It may be the connection of another available provider. After
     * UNAVAILABLE, it may also be that of a provider to which the client is connecting. If the connection of the
     * attempt was lost, a new connection to the same provider is possible too, because it may be open before the
     * caller sees the failure.
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

    /** Chooses the provider of the next attempt, if possible one other than {@code except}. */
    Target pick(ClientMethod method, Invocation call, @Nullable Target except) {
        return cluster.pick(
                method.descriptor().name(), key(method, call), tag(call), isTagForced(call), except, clock.nanoTime());
    }

    /** Chooses a usable provider other than {@code besides}; null if there is none. */
    @Nullable
    Target pickElsewhere(ClientMethod method, Invocation call, Target besides) {
        Target picked;
        try {
            picked = pick(method, call, besides);
        } catch (Throwable e) { // a balancer or source may also throw; the first attempt continues
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

    // The following methods serve calls that wait for a provider.

    private static boolean waitsForReady(ClientMethod method, Invocation call) {
        Boolean chosen = call.options().isWaitingForReady();
        return chosen == null ? method.waitForReady() : chosen;
    }

    /** Whether the call must wait now, because no provider is available. */
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
     * Continues as soon as a provider is available. Fails the call if it is cancelled before that or if its deadline
     * passes.
     *
     * @param cancelled returns the failure of a cancelled call; null if the call is not cancelled
     * @param next the continuation; like {@code failed}, it runs on the executor of the call
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
            next.run(); // the client is closed, so sending the call makes it fail
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

    /** Throws DEADLINE_EXCEEDED if the deadline passed before a provider was available. */
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

    // The following methods supply values for meters and reports.

    boolean isAvailable() {
        return cluster.isAvailable();
    }

    /** Each address with the reason why it cannot be reached, for error messages. */
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
