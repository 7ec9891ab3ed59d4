package tern.rpc.server;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.security.Principal;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.CallLedger;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Phase;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.RunningCall;
import tern.rpc.ServerContext;
import tern.rpc.Thrown;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;
import tern.rpc.metrics.CallMeters;
import tern.rpc.serialization.LargeMessages;
import tern.rpc.transport.ServerCall;

/**
 * One call on the server, from its admission to its end. The event loop creates it, one worker runs it, and any thread
 * may end it. Its state determines which thread ends it. The steps of a call and the changes of its state stay in one
 * class, because their order decides who answers the call and who releases its permits.
 */
final class ServedCall implements Runnable, ServerCall.Watcher {

    private static final Logger LOG = LoggerFactory.getLogger(ServedCall.class);

    private static final int QUEUED = 0;
    private static final int RUNNING = 1;
    private static final int LEFT = 2; // the worker has finished; another thread will complete the call
    private static final int ENDED = 3; // the call ended while it was waiting, or before its worker finished
    private static final int ENDED_LAST = 4; // the call ended after its worker had finished

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(ServedCall.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Dispatcher dispatcher;
    private final ServerCall call;
    private volatile int state = QUEUED; // changed through STATE; an atomic object would cost an allocation per call
    private final boolean critical; // true if the call may wait for a worker until its deadline
    private final boolean counted; // true if the server's limiter counts the call
    // The place of the call in the method reserve, or null if it has none. Set only before a worker gets the call.
    private volatile MethodReserve.@Nullable Place reserved;
    private volatile boolean spare; // true if a spare thread runs the call; set only before a worker gets the call

    private volatile @Nullable MethodHandler handler; // set by the worker, read by the thread that ends the call
    private volatile @Nullable ServerContext context; // set by the worker, read by the thread that ends the call

    // Set by the worker and read by the thread that ends the call. Null for a unary call.
    private volatile @Nullable ServedStream stream;
    private int heldMemory; // permits for the decoded request; set by the worker, read after the worker has finished
    private int place = RunningCalls.NOWHERE; // set by the worker, read after the worker has finished

    // The permit from the method's limiter. Set by the worker and read after the worker has finished. Null if the
    // method has no limit.
    private @Nullable MethodPlace methodPlace;
    private boolean threadReturned; // true if the worker no longer counts as a thread of the method; used by the worker
    private boolean served; // true if the method has started; used only by the worker

    // True if the call is counted as a call without a thread. Set by the worker and read after the worker has finished.
    private boolean returned;
    private volatile @Nullable CallAdmission admission; // set by the worker; null if the server admits every call

    /**
     * @param critical whether the call belongs to a critical service, and may wait for a worker until its deadline
     * @param counted whether the server's limiter counts the call
     */
    ServedCall(Dispatcher dispatcher, ServerCall call, boolean critical, boolean counted) {
        this.dispatcher = dispatcher;
        this.call = call;
        this.critical = critical;
        this.counted = counted;
    }

    /** Runs the call on a worker thread. This method contains all steps of a served call in order. */
    @Override
    public void run() {
        if (!STATE.compareAndSet(this, QUEUED, RUNNING)) {
            return; // the call waited too long, or its client disconnected
        }
        ThreadState thread = dispatcher.threadState();
        thread.clear();
        try {
            serve();
        } catch (Throwable e) {
            failUnserved(e);
        } finally {
            thread.clear();
            if (!served) {
                leaveUnserved();
                MethodPlace held = methodPlace;
                if (held != null) {
                    held.leaveUnserved();
                }
            }
        }
    }

    /** Fails a call whose method was not started. The request may already have been decoded. */
    private void failUnserved(Throwable failure) {
        MethodHandler found = handler;
        if (found == null) {
            failUndecoded(failure);
            return;
        }
        Thrown.log(failure, shown -> LOG.error("{} could not be started", found.method(), shown));
        end(null, ServedFailures.notStarted(found.method(), served ? Executed.MAYBE : Executed.NO, failure));
    }

    /** Sets whether a spare thread runs the call. Called before a worker gets the call. */
    void waitsForSpareThread(boolean spareThread) {
        spare = spareThread;
    }

    /** Sets the call's place in the method reserve. Called before a worker gets the call. */
    void waitsForReserve(MethodReserve.@Nullable Place place) {
        reserved = place;
    }

    /** Refuses the call because it waited too long, unless a worker has already started it. */
    void waitedInVain() {
        if (STATE.compareAndSet(this, QUEUED, ENDED)) {
            leaveUnserved();
            dispatcher.refuse(call, Refusal.WAIT);
        }
    }

    /** Ends the call, unless a worker has already started it. */
    void withdraw() {
        if (STATE.compareAndSet(this, QUEUED, ENDED)) {
            leaveUnserved();
        }
    }

    private void leaveUnserved() {
        if (counted) {
            dispatcher.leaveUnserved(call);
        } else if (!critical) {
            dispatcher.leaveWithoutPermit();
        }
    }

    private void serve() {
        long started = dispatcher.clock().nanoTime();
        CallLedger ledger = dispatcher.ledgers().begin(started, started - call.receivedNanos());
        Invocation invocation;
        Principal caller;
        long requestMemory;
        MethodHandler found;
        try {
            enterNamedMethod(started);
            CallAdmission asked = admission();
            long mark = RequestMemory.mark(call);
            invocation = call.decode(dispatcher.registry(), asked == null ? CallAdmission.OPEN : asked);
            requestMemory = RequestMemory.since(mark);
            caller = asked == null ? call.peerPrincipal() : asked.requireAdmitted(invocation);
            found = dispatcher.registry().handler(invocation);
        } catch (Throwable e) {
            failUndecoded(e);
            return;
        }
        handler = found;
        CallMeters meters = found.meters(call.protocol());
        meters.dequeued(started - call.receivedNanos());
        ledger.turnTo(Phase.OWN);
        ServerContext serving = new ServerContext(invocation, call, ledger, caller);
        context = serving;
        if (hasEnded()) {
            return; // the client disconnected while the request was being decoded
        }
        if (invocation.deadline().isExpired(dispatcher.clock().nanoTime())) {
            end(null, ServedFailures.lateInQueue(invocation));
            return;
        }
        call.watch(invocation.deadline().isLimited() ? invocation.deadline().nanoTime() : Long.MAX_VALUE, this);
        try {
            enter(found.method(), found.limiter(), started);
        } catch (RpcException e) {
            end(null, e);
            return;
        }
        heldMemory = LargeMessages.hold(requestMemory);
        place = dispatcher.ledgers().runs(this);
        served = true;
        found.threadEnters();
        ServerContext before = ServerContext.replace(serving);
        try {
            invoke(found, invocation, serving);
        } finally {
            threadReturns(found);
            ServerContext.replace(before);
            leave(ledger);
        }
    }

    /** Returns the check of this call; null if the server admits every call. */
    private @Nullable CallAdmission admission() {
        CallGate gate = dispatcher.gate();
        if (gate.isOpen()) {
            return null;
        }
        CallAdmission asked = new CallAdmission(gate, call, this, dispatcher.clock());
        admission = asked;
        return asked;
    }

    /**
     * Takes a permit from the method's limiter before the request is decoded, if the transport already knows the
     * method.
     */
    private void enterNamedMethod(long now) {
        MethodDescriptor named = call.namedMethod();
        // Unauthorized callers must not learn that the method has reached its limit.
        if (named != null && !dispatcher.gate().asksAuthorizers()) {
            enter(named, dispatcher.registry().limiter(named), now);
        }
    }

    private void enter(MethodDescriptor method, @Nullable MethodLimiter limiter, long now) {
        if (limiter == null || methodPlace != null) {
            return;
        }
        methodPlace = limiter.enter(call.share(), now);
        if (methodPlace == null) {
            dispatcher.refused(Refusal.METHOD);
            throw MethodLimits.full(method, limiter);
        }
    }

    /**
     * Called when the worker finishes its work on the call. The call is considered running until it has ended and its
     * worker has finished.
     */
    private void leave(CallLedger ledger) {
        boolean streams = stream != null;
        if (streams) {
            // A stream leaves the server's limiter when its worker finishes, because a stream may last for hours and
            // other limits bound its work. For the same reason, it releases the memory of its request here.
            leaveServer(false);
            LargeMessages.ended(heldMemory);
            heldMemory = 0;
        }
        if (state == RUNNING) {
            // The call stays in the UNATTRIBUTED phase until another thread completes it.
            ledger.turnTo(Phase.UNATTRIBUTED);
            if (counted && !streams && !returned) {
                dispatcher.workerLeaves(call);
            }
            if (STATE.compareAndSet(this, RUNNING, LEFT)) {
                return;
            }
            if (counted && !streams && !returned) {
                dispatcher.workerStays(call);
            }
        }
        stopped(false);
    }

    private void leaveServer(boolean workerLeft) {
        if (!counted) {
            if (!critical) {
                dispatcher.leaveWithoutPermit();
            }
            return;
        }
        if (workerLeft || returned) {
            dispatcher.workerStays(call);
        }
        dispatcher.leave(call);
    }

    /** @return whether the current thread ended the call; false if another thread has already ended it */
    private boolean endRunning() {
        return STATE.compareAndSet(this, RUNNING, ENDED) || STATE.compareAndSet(this, LEFT, ENDED_LAST);
    }

    private boolean hasEnded() {
        return state >= ENDED;
    }

    private void invoke(MethodHandler found, Invocation invocation, ServerContext serving) {
        try {
            if (found.method().type() != MethodType.UNARY) {
                serveStream(found, invocation, serving);
                return;
            }
            Invoker filtered = found.filtered();
            if (filtered != null) {
                CompletionStage<Response> stage = filtered.invoke(invocation);
                returned();
                stage.whenComplete(this::end);
                return;
            }
            Object result = found.last().runUnary(invocation.arguments(), serving);
            returned();
            if (result != null && found.last().isAsync()) {
                ((CompletionStage<?>) result)
                        .whenComplete((value, failure) -> end(
                                MethodInvoker.response(value, serving),
                                failure == null ? null : found.last().ran(failure)));
                return;
            }
            end(MethodInvoker.response(result, serving), null);
        } catch (Throwable e) {
            if (found.method().type() == MethodType.UNARY) {
                returned();
            }
            end(null, e);
        }
    }

    /**
     * Records, before the answer is sent, that the call no longer needs its thread. The caller may send its next call
     * before the thread has finished this one. The answered call must then no longer count against the caller's share of
     * the spare threads, or as a call of its method.
     */
    private void returned() {
        MethodHandler found = handler;
        if (found != null) {
            threadReturns(found);
        }
        MethodReserve.Place place = reserved;
        if (place != null) {
            place.leave();
        }
        if (spare && !returned) {
            returned = true;
            dispatcher.workerLeaves(call);
        }
    }

    private void threadReturns(MethodHandler found) {
        if (!threadReturned) {
            threadReturned = true;
            found.threadReturns();
        }
    }

    private void serveStream(MethodHandler found, Invocation invocation, ServerContext serving) {
        ServedStream served = new ServedStream(
                found,
                call,
                serving,
                dispatcher.clock(),
                dispatcher.streamWaits(),
                dispatcher.streamExecutor(call.share()));
        stream = served;
        if (hasEnded()) {
            return; // the client disconnected before the answer
        }
        served.run(invocation, this::end);
    }

    /**
     * Ends a call whose method is known: answers the call and then updates the meters. Only the first invocation has an
     * effect.
     */
    private void end(@Nullable Response response, @Nullable Throwable failure) {
        if (!endRunning()) {
            return; // the call has already ended, for example at its deadline
        }
        MethodHandler found = Objects.requireNonNull(handler);
        Throwable outgoing = answerAnyhow(found, response, failure);
        count(found, outgoing, failure);
        ServedStream streamed = stream;
        if (streamed != null) {
            streamed.answered();
        }
    }

    /**
     * Answers the call. Never throws, because the call must still release its permits.
     *
     * @return the failure that was sent, or null if a result was sent
     */
    private @Nullable Throwable answerAnyhow(
            MethodHandler found, @Nullable Response response, @Nullable Throwable failure) {
        try {
            return answer(found, response, failure);
        } catch (Throwable e) { // the answer or the exception cannot be encoded, or memory is exhausted
            RpcException told = ServedFailures.unanswerable(found.method(), e);
            failAnyhow(told);
            return told;
        }
    }

    /**
     * Answers with a failure. The transport replaces a failure that it cannot encode. If the transport throws, the
     * remaining steps still run.
     */
    private void failAnyhow(RpcException failure) {
        try {
            call.fail(failure, new Metadata());
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.error("{} could not be answered", name(), shown));
        }
    }

    /** @return the failure that was sent, or null if a result was sent */
    private @Nullable Throwable answer(MethodHandler found, @Nullable Response response, @Nullable Throwable failure) {
        if (failure == null && response != null) {
            ServedStream streamed = stream;
            if (streamed == null) {
                call.reply(response);
            } else {
                streamed.reply(response);
            }
            return null;
        }
        Throwable cause = failure != null ? failure : found.withoutResponse();
        return FailedAnswer.send(call, found, context, cause);
    }

    private void failUndecoded(Throwable failure) {
        if (STATE.compareAndSet(this, RUNNING, ENDED)) {
            failAnyhow(ServedFailures.unreadable(failure));
        }
    }

    @Override
    public void expired() {
        Refusal reason = reasonToRefuse();
        if (reason != null && STATE.compareAndSet(this, QUEUED, ENDED)) {
            leaveUnserved();
            dispatcher.refuse(call, reason);
        } else if (isPastDeadline() && endRunning()) {
            RpcException late =
                    ServedFailures.stillRunning(name(), dispatcher.clock().nanoTime() - call.receivedNanos());
            failAnyhow(late);
            cancel(late);
        } else {
            endUndecided();
        }
    }

    /** Answers the caller while an authorizer is still deciding. The authorizer keeps its worker until it returns. */
    private void endUndecided() {
        CallAdmission asked = admission;
        RpcException late = asked == null ? null : asked.late();
        if (late != null && STATE.compareAndSet(this, RUNNING, ENDED)) {
            failAnyhow(late);
        }
    }

    private @Nullable Refusal reasonToRefuse() {
        if (call.deadline().isExpired(dispatcher.clock().nanoTime())) {
            return Refusal.DEADLINE;
        }
        if (!critical && (reserved != null ? dispatcher.offerReservedToIdle(this) : dispatcher.offerToIdle(this))) {
            return null;
        }
        if (reserved != null) {
            return Refusal.WAIT;
        }
        return !critical && (dispatcher.isOverloaded(spare) || dispatcher.waitedInVain(this)) ? Refusal.WAIT : null;
    }

    /**
     * Returns whether the deadline has passed. The timer may also fire before the deadline, because it limits the wait
     * in the queue too. A worker may have taken the call just before the timer fires.
     */
    private boolean isPastDeadline() {
        ServerContext serving = context;
        return serving != null
                && serving.deadline().isExpired(dispatcher.clock().nanoTime());
    }

    @Override
    public void disconnected() {
        if (STATE.compareAndSet(this, QUEUED, ENDED)) {
            leaveUnserved();
        } else if (endRunning()) {
            cancel(ServedFailures.callerIsGone(name()));
        }
    }

    private void cancel(RpcException reason) {
        MethodHandler found = handler;
        if (found != null) {
            count(found, reason, reason);
        }
        ServerContext serving = context;
        if (serving != null) {
            serving.cancel();
        }
        ServedStream streamed = stream;
        if (streamed != null) {
            streamed.over(reason);
        }
    }

    /** @param cause the original failure, before conversion for the caller */
    private void count(MethodHandler found, @Nullable Throwable failure, @Nullable Throwable cause) {
        try {
            record(found, failure, cause == null ? failure : cause);
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.error("{} could not be counted", found.method(), shown));
        } finally {
            if (state == ENDED_LAST) {
                stopped(true);
            }
        }
    }

    private void record(MethodHandler found, @Nullable Throwable failure, @Nullable Throwable cause) {
        long now = dispatcher.clock().nanoTime();
        long tookNanos = now - call.receivedNanos();
        found.meters(call.protocol()).ended(failure, tookNanos);
        ServerContext serving = context;
        if (serving != null) {
            serving.ledger().joinPresentPart();
            dispatcher.ledgers().ended(found, serving, tookNanos, now, cause, failure);
            dispatcher
                    .callers()
                    .ended(serving, failure != null && !found.method().declares(failure), now);
            call.counted(serving.ledger(), tookNanos, now);
        }
    }

    /**
     * Releases the call's permits once the call has been answered and its worker has finished. Runs once, after the
     * later of these two events.
     */
    private void stopped(boolean workerLeftBefore) {
        dispatcher.ledgers().stopped(place, this);
        LargeMessages.ended(heldMemory);
        if (stream == null) {
            leaveServer(workerLeftBefore);
        }
        MethodPlace held = methodPlace;
        if (held != null) {
            held.leave(dispatcher.clock().nanoTime());
        }
    }

    /** Offers the call to the method reserve. Called before a worker gets the call. */
    boolean offerTo(MethodReserve reserve, @Nullable Share share) {
        return reserve.offer(this, call, share);
    }

    /** Returns a snapshot of the current phase of a running call. Any thread may call this. */
    RunningCall look(long now) {
        MethodDescriptor method = Objects.requireNonNull(handler).method();
        RunningCall seen =
                Objects.requireNonNull(context).ledger().look(method.label(), now - call.receivedNanos(), now);
        return state == LEFT ? seen.withoutThread() : seen;
    }

    private String name() {
        MethodHandler found = handler;
        return found == null ? "a call being read" : found.method().fullName();
    }
}
