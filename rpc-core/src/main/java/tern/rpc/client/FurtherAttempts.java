package tern.rpc.client;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.cluster.Cluster;
import tern.rpc.cluster.Node;
import tern.rpc.cluster.Target;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.RemoteFailures;
import tern.rpc.transport.UnsentCallException;

/**
 * Decides whether a call is attempted again after a failed attempt. Also ends an attempt if its provider has become
 * silent, for example because the provider's process is frozen. This happens only if the method is idempotent and
 * another provider can take the call. The call is then attempted again. Otherwise, the call would wait for the silent
 * provider until the deadline. Thread-safe.
 */
final class FurtherAttempts {

    private static final Logger LOG = LoggerFactory.getLogger(FurtherAttempts.class);

    /**
     * A provider counts as silent if a ping remains unanswered for this time plus the additional time that a ping may
     * take on the connection. A provider that is only slow answers the ping earlier.
     */
    private static final long SILENT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** The interval between checks for silent providers while calls to idempotent methods are in flight. */
    private static final long LOOK_MILLIS = 250;

    /**
     * The failure of an attempt that was ended because its provider is silent. The retry budgets have already counted
     * the retry of this attempt.
     */
    private static final class SilentProvider extends RpcException {
        private static final long serialVersionUID = 1;

        SilentProvider(String description, Executed executed) {
            super(new Status(StatusCode.UNAVAILABLE, description), executed, new Metadata());
        }
    }

    private final Cluster cluster;
    private final RetryPolicy retries;
    private final NanoClock clock;
    private final ScheduledExecutorService timer;
    private final Runnable look = this::look;
    private final AtomicBoolean looking = new AtomicBoolean(); // whether a check for silent providers is scheduled

    /** @param timer runs the checks for silent providers; these checks do not block */
    FurtherAttempts(Cluster cluster, RetryPolicy retries, NanoClock clock, ScheduledExecutorService timer) {
        this.cluster = cluster;
        this.retries = retries;
        this.clock = clock;
        this.timer = timer;
    }

    /**
     * Allows the first attempt of a call to be ended if its provider becomes silent. Does nothing if the method is not
     * idempotent, or if calls to it are hedged. Called before the attempt is sent.
     */
    void watch(ClientMethod method, PendingCall attempt) {
        if (method.idempotent()
                && !method.oneWay()
                && method.hedging() == null
                && cluster.targets().size() > 1) {
            attempt.movableBy(this);
            lookLater();
        }
    }

    private void lookLater() {
        if (!looking.get() && looking.compareAndSet(false, true)) {
            try {
                timer.schedule(look, LOOK_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                LOG.debug("The client is closed", e);
            }
        }
    }

    private void look() {
        looking.set(false);
        long now = clock.nanoTime();
        boolean anyWaits = false;
        try {
            for (Target target : cluster.targets()) {
                Node node = target.node();
                if (node.waitingCalls() == 0) {
                    continue;
                }
                anyWaits = true;
                ClientConnection connection = node.link().opened();
                if (connection != null && node.silentForNanos(now) >= SILENT_NANOS + connection.pingDelayNanos()) {
                    connection.forEachWaiting(attempt -> move(attempt, target, now));
                }
            }
        } finally {
            // The next check is scheduled even after an exception, such as an exception from an executor that a filter
            // has set. Otherwise, the remaining calls would wait for the silent provider until their deadlines.
            if (anyWaits) {
                lookLater();
            }
        }
    }

    private void move(PendingCall attempt, Target silent, long now) {
        if (!attempt.isMovableBy(this)
                || now - attempt.startedNanos() < SILENT_NANOS
                || attempt.call().deadline().isExpired(now)
                || !isAnotherGood(attempt.call(), silent, now)
                || !retries.spend(silent.retries())) {
            return;
        }
        boolean isEnded = attempt.fail(executed -> new SilentProvider(
                attempt + ": nothing has arrived from " + silent.endpoint() + " for "
                        + TimeUnit.NANOSECONDS.toMillis(silent.node().silentForNanos(now)) + " ms",
                executed));
        if (!isEnded) {
            // the answer arrived before the attempt could be ended, so no retry is needed
            retries.giveBack(silent.retries());
        }
    }

    /** Returns whether another provider that is neither silent nor ejected can take the call now. */
    private boolean isAnotherGood(Invocation call, Target silent, long now) {
        return cluster.targets(call.method().distinctName(), CallTags.tag(call), CallTags.isForced(call)).stream()
                .anyMatch(other -> other != silent
                        && other.isUsable()
                        && other.attributes().weight() > 0
                        && !other.isAvoided(now));
    }

    /** Returns whether the attempt was ended because its provider is silent. */
    static boolean isMoved(@Nullable RpcException failure) {
        return failure instanceof SilentProvider;
    }

    /**
     * Returns whether to make another attempt.
     *
     * @param number the number of the failed attempt, starting from 1
     * @param used the provider of the failed attempt
     */
    boolean again(
            ClientMethod method, Invocation call, RpcException failure, int number, Target used, PendingCall attempt) {
        long remaining = call.deadline().remainingNanos(clock.nanoTime());
        if (isMoved(failure) && remaining > 0) {
            retries.retried();
            return true;
        }
        if (failure instanceof UnsentCallException && remaining > 0) {
            return true; // No server has processed the request, so the next attempt is not a retry.
        }
        if (ProviderWait.isAllowed(method, call)
                && failure.code() == StatusCode.UNAVAILABLE
                && failure.wasExecuted() == Executed.NO
                && !used.isUsable()
                && remaining > 0) {
            return true; // No connection was available, so the call continues to wait for one.
        }
        if (isMissing(call, failure, used)) {
            boolean isRepeated = remaining > 0
                    && number <= cluster.targets().size()
                    && (isServedElsewhere(call, used) || (ProviderWait.isAllowed(method, call) && !canTake(call)));
            if (isRepeated) {
                retries.retried();
            }
            return isRepeated;
        }
        return retries.again(
                method,
                failure,
                number,
                canGoElsewhere(method, call, failure, used, attempt),
                remaining,
                used.retries());
    }

    /**
     * Returns whether the provider of the failed attempt lacks the method or the whole service, and therefore did not
     * run the call. The call is then repeated at each provider that may have the method. These repetitions do not count
     * towards the retry budget. They cannot cause an overload, because later calls avoid the providers that lack the
     * method.
     */
    private boolean isMissing(Invocation call, RpcException failure, Target used) {
        return failure.wasExecuted() == Executed.NO
                && RemoteFailures.missing(failure) != RemoteFailures.Missing.NOTHING
                && cluster.lacks(used, call.method().distinctName(), clock.nanoTime());
    }

    private boolean isServedElsewhere(Invocation call, Target used) {
        return cluster.isServedElsewhere(
                call.method().distinctName(), CallTags.tag(call), CallTags.isForced(call), used, clock.nanoTime());
    }

    private boolean canTake(Invocation call) {
        return cluster.canTake(call.method().distinctName(), CallTags.tag(call), CallTags.isForced(call));
    }

    /**
     * Returns whether the call can use another connection: another provider for the given method and tag is available,
     * and is not known to lack the service. After UNAVAILABLE, the other provider may still be connecting. If the
     * attempt's connection was lost, a new connection to the same provider is also sufficient, because this connection
     * may be open before the caller sees the failure.
     */
    private boolean canGoElsewhere(
            ClientMethod method, Invocation call, RpcException failure, Target used, PendingCall attempt) {
        boolean unavailable = failure.code() == StatusCode.UNAVAILABLE;
        boolean sameProvider = unavailable && attempt.isCarrierGone();
        long now = clock.nanoTime();
        // A provider with weight 0 gets no retries while the provider of the failed attempt can take the next attempt.
        boolean isUsedGood = used.attributes().weight() > 0 && used.isUsable() && !used.isAvoided(now);
        for (Target candidate :
                cluster.targets(method.descriptor().distinctName(), CallTags.tag(call), CallTags.isForced(call))) {
            if (unavailable && candidate.node().link().isConnecting()) {
                return true;
            }
            boolean isWeighted = candidate.attributes().weight() > 0 || candidate.isHeld() || !isUsedGood;
            boolean mayServe = candidate == used ? sameProvider : isWeighted && !candidate.lacksService(now);
            if (candidate.isUsable() && mayServe) {
                return true;
            }
        }
        return false;
    }
}
