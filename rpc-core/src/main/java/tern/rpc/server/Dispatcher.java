package tern.rpc.server;

import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Deadline;
import tern.rpc.Metadata;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.limit.Limiter;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;
import tern.rpc.metrics.Callers;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.RetryPushBack;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.ServiceLookup;

/**
 * Refuses calls, or passes them to workers, which run {@link ServedCall#run()}. Calls to critical services go to
 * reserved workers. All other calls need a permit from the limiter, which costs only a few atomic operations. While all
 * workers are busy, calls to methods that occupy few threads may use reserved threads (the method reserve). These calls
 * may run even without a permit. Other calls wait in a queue. If the queue is full, the call is refused.
 */
final class Dispatcher implements CallHandler {

    private static final String MAX_CONCURRENCY = "rpc.server.max-concurrency";

    private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);

    /**
     * The failure of a refused one-way call, whose caller does not wait for an answer. The text contains no details,
     * because it is not sent.
     */
    private static final RpcException UNSENT_REFUSAL = exhausted("the server is overloaded");

    private final HandlerRegistry registry;
    private final CallGate gate;
    private final Limiter limiter;
    private final FairWorkers workers;
    private final ReservedWorkers reserve;
    private final @Nullable MethodReserve methodReserve;
    private final StreamThreads streams;
    private final StreamWaits streamWaits;
    private volatile Duration maxQueueWait;
    private volatile long maxQueueWaitNanos;
    private final RpcMeters meters;
    private final CallLedgers ledgers;
    private final ThreadState threadState;
    private final NanoClock clock;
    private final Refusals refusals = new Refusals();
    private final Floods floods;
    private final Callers callers;

    /**
     * @param limiter limits the number of admitted calls
     * @param reserve runs the calls to critical services
     * @param methodReserve runs calls to methods that occupy few threads, while all workers are busy; null for none
     * @param streams the threads that run stream callbacks
     * @param streamWaits limits the time that stream threads wait for slow readers
     */
    Dispatcher(
            HandlerRegistry registry,
            CallGate gate,
            Limiter limiter,
            FairWorkers workers,
            ReservedWorkers reserve,
            @Nullable MethodReserve methodReserve,
            StreamThreads streams,
            StreamWaits streamWaits,
            Duration maxQueueWait,
            RpcMeters meters,
            CallLedgers ledgers,
            ThreadState threadState,
            NanoClock clock) {
        this.limiter = limiter;
        this.reserve = reserve;
        this.methodReserve = methodReserve;
        this.ledgers = ledgers;
        this.threadState = threadState;
        this.streams = streams;
        this.streamWaits = streamWaits;
        this.meters = meters;
        this.registry = registry;
        this.gate = gate;
        this.workers = workers;
        this.maxQueueWait = maxQueueWait;
        this.maxQueueWaitNanos = maxQueueWait.toNanos();
        this.clock = clock;
        this.floods = new Floods(meters, clock);
        this.callers = new Callers(clock.nanoTime());
        refusals.register(meters);
    }

    /** Changes the time that calls may wait for a worker. Applies to calls that arrive later. */
    void maxQueueWait(Duration changed) {
        maxQueueWait = changed;
        maxQueueWaitNanos = changed.toNanos();
    }

    @Override
    public void handle(ServerCall call) {
        String service = call.service();
        boolean critical = service != null && registry.isCritical(service);
        Share share = call.share();
        long received = call.receivedNanos();
        Refusal refusal = critical ? null : limiter.enter(share, received);
        if (refusal != null && !entersWithoutPermit(call, refusal)) {
            refuse(call, refusal);
            return;
        }
        boolean counted = !critical && refusal == null;
        ServedCall served = null;
        Refusal busy;
        try {
            served = new ServedCall(this, call, critical, counted);
            call.watch(queuedUntil(call, received), served);
            if (refusal != null) {
                busy = offerToReserve(served, share) ? null : refusal;
            } else {
                busy = critical ? reserve.offer(served, share) : workers.offer(served, share);
            }
        } catch (Throwable e) { // the permit must also be released after an error such as an OutOfMemoryError
            if (served != null) {
                served.withdraw();
            } else if (counted) {
                leaveUnserved(call);
            } else if (!critical) {
                leaveWithoutPermit();
            }
            throw e;
        }
        if (busy != null) {
            served.withdraw();
            refuse(call, busy);
        }
    }

    /**
     * Returns whether a call that the limiter refuses may run on a thread of the method reserve. This is useful even
     * while threads are idle: if measurements have reduced the limit below the number of threads, slow calls from many
     * tenants can use up the limit.
     */
    private boolean entersWithoutPermit(ServerCall call, Refusal refusal) {
        try {
            if (methodReserve == null) {
                return false;
            }
            return workers.hasRoom()
                    ? refusal == Refusal.LIMIT
                            && limiter.isReduced()
                            && methodReserve.enterBeyond(limiter.limit(), call)
                    : methodReserve.enterWithoutPermit(call);
        } catch (Throwable e) { // The call is refused, so that its caller gets an answer even if memory is exhausted.
            Thrown.log(e, exception -> LOG.error("The method of a call could not be found", exception));
            return false;
        }
    }

    /** Records that a call without a permit has ended and its worker has finished. */
    void leaveWithoutPermit() {
        if (methodReserve != null) {
            methodReserve.leaveWithoutPermit();
        }
    }

    private boolean offerToReserve(ServedCall call, @Nullable Share share) {
        return methodReserve != null && call.offerTo(methodReserve, share);
    }

    private long queuedUntil(ServerCall call, long received) {
        long until = received + maxQueueWaitNanos;
        Deadline deadline = call.deadline();
        return deadline.isLimited() && deadline.nanoTime() - until < 0 ? deadline.nanoTime() : until;
    }

    @Override
    public ServiceLookup services() {
        return registry;
    }

    @Override
    public void refused(Refusal reason) {
        refusals.count(reason);
    }

    /** Releases an admitted call's permit once the call has been answered and its worker has finished. */
    void leave(ServerCall call) {
        limiter.leave(call.share(), call.receivedNanos(), clock.nanoTime());
    }

    /** Records that an admitted call continues without a worker. */
    void workerLeaves(ServerCall call) {
        limiter.threadLeaves(call.share());
    }

    /** Undoes {@link #workerLeaves}, because the call is about to end or has ended in the meantime. */
    void workerStays(ServerCall call) {
        limiter.threadStays(call.share());
    }

    /** Releases the permit of an admitted call that ended before a worker took it. */
    void leaveUnserved(ServerCall call) {
        limiter.leaveUnserved(call.share(), call.receivedNanos());
    }

    /** Refuses a call without running it, and counts the refusal. */
    void refuse(ServerCall call, Refusal reason) {
        refusals.count(reason);
        try {
            noteTenant(call.share(), reason);
            meters.refused(clock.nanoTime() - call.receivedNanos());
        } catch (Throwable e) {
            // The caller must get an answer even if the count fails, for example because the meter registry throws an
            // exception.
            Thrown.log(e, exception -> LOG.error("A refused call could not be counted", exception));
        }
        if (call.expectsAnswer()) {
            call.fail(failure(call, reason), pushBack(reason));
        } else {
            call.fail(UNSENT_REFUSAL, new Metadata());
        }
    }

    /** Returns metadata that tells the client when to send its next attempt. By then, a worker is likely to be free. */
    private Metadata pushBack(Refusal reason) {
        return reason == Refusal.DEADLINE
                ? new Metadata()
                : new Metadata().put(RetryPushBack.HEADER, String.valueOf(maxQueueWait.toMillis()));
    }

    private void noteTenant(@Nullable Share share, Refusal reason) {
        if (reason == Refusal.WAIT) {
            workers.waitedInVain(share);
        }
        if (share == null) {
            return;
        }
        floods.seen(share);
        if (reason == Refusal.SHARE) {
            floods.refused(share, limiter.inside());
        }
    }

    /**
     * Describes the tenants with the most admitted calls. If callers are authenticated, returns an empty string,
     * because a refusal is sent before authentication and must not reveal other callers.
     */
    private String holders() {
        String holders = gate.isOpen() ? floods.describe(limiter.inside()) : "";
        return holders.isEmpty() ? "" : "; " + holders;
    }

    private RpcException failure(ServerCall call, Refusal reason) {
        return switch (reason) {
            case LIMIT ->
                exhausted(limiter.inside() + " calls are running or waiting; the limit is " + limiter.limit() + " ("
                        + limiter.describe(MAX_CONCURRENCY) + ")" + holders());
            case SHARE ->
                exhausted("its tenant " + tenant(call.share()) + " holds " + held(call.share()) + " of "
                        + limiter.inside()
                        + " calls of " + tenants(call.share())
                        + " tenants; one more call would leave too little room for other tenants in the limit of "
                        + limiter.limit() + " (" + limiter.describe(MAX_CONCURRENCY) + ") and "
                        + workers.threads()
                        + " threads (set by rpc.server.threads)" + holders());
            case WAIT ->
                exhausted("no worker was free within " + maxQueueWait.toMillis() + " ms, "
                        + workers.threads() + " of " + workers.threads()
                        + " are busy (set by rpc.server.max-queue-wait and rpc.server.threads)" + holders());
            case DEADLINE ->
                RpcException.refusal(
                        StatusCode.DEADLINE_EXCEEDED,
                        "the call was refused: its deadline passed while it waited for a worker; it was not run",
                        Executed.NO);
            default ->
                exhausted(workers.threads() + " of " + workers.threads()
                        + " workers are busy and the queue is full (set by rpc.server.threads and"
                        + " rpc.server.queue-capacity)" + holders());
        };
    }

    private static String tenant(@Nullable Share share) {
        return share == null ? "" : share.tenant() + " (certificate, network or connection)";
    }

    private int tenants(@Nullable Share share) {
        return share == null ? 0 : limiter.tenants(share);
    }

    private static int held(@Nullable Share share) {
        return share == null ? 0 : share.held();
    }

    private static RpcException exhausted(String how) {
        return RpcException.refusal(StatusCode.RESOURCE_EXHAUSTED, "the call was refused: " + how, Executed.NO);
    }

    Refusals refusals() {
        return refusals;
    }

    @Override
    public AcceptedTokens tokens() {
        return gate.tokens();
    }

    @Override
    public boolean asksWhoCalls() {
        return !gate.isOpen();
    }

    @Override
    public boolean hasAuthorizers() {
        return gate.hasAuthorizers();
    }

    CallGate gate() {
        return gate;
    }

    HandlerRegistry registry() {
        return registry;
    }

    /** Returns the executor for a stream's callbacks. */
    Executor streamExecutor(@Nullable Share share, Runnable endCall) {
        Executor threads = streams.of(share, endCall);
        return task -> threads.execute(threadState.around(task));
    }

    int streamThreads() {
        return streams.number();
    }

    ThreadState threadState() {
        return threadState;
    }

    StreamWaits streamWaits() {
        return streamWaits;
    }

    CallLedgers ledgers() {
        return ledgers;
    }

    Callers callers() {
        return callers;
    }

    NanoClock clock() {
        return clock;
    }

    /**
     * Returns the reason to refuse a call that has waited for a worker until its time limit. Returns null if the call
     * continues to wait, or if an idle thread has just taken the call.
     */
    @Nullable
    Refusal reasonToRefuse(ServedCall waiting) {
        if (waiting.call.deadline().isExpired(clock.nanoTime())) {
            return Refusal.DEADLINE;
        }
        if (waiting.isCritical()) {
            return null;
        }
        if (waiting.isReserved()) {
            return workers.offerReservedToIdle(waiting) || !workers.isReserveSaturated() ? null : Refusal.WAIT;
        }
        if (workers.offerToIdle(waiting)) {
            return null;
        }
        return workers.isSaturated(waiting.isSpare()) || workers.waitedInVain(waiting) ? Refusal.WAIT : null;
    }
}
