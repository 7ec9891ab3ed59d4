package tern.rpc.server;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.security.Principal;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.CallLedger;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.LaterResult;
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
import tern.rpc.transport.ServerCall;

/**
 * One call on the server, from its admission to its end. The event loop creates the call, one worker runs it, and any
 * thread may end it. The call's state determines which thread ends it. One class contains all steps and state changes
 * of a call, because their order determines which thread answers the call and releases its {@linkplain CallPermits
 * permits}.
 */
final class ServedCall extends CallPermits implements Runnable, ServerCall.Watcher {

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

    private volatile int state = QUEUED; // changed through the VarHandle STATE, which needs no object per call

    // The worker sets the following four fields. The thread that ends the call reads them.
    private volatile @Nullable MethodHandler handler;
    private volatile @Nullable ServerContext context;
    private volatile @Nullable ServedStream stream; // the call's stream; null for a unary call
    private volatile @Nullable CallAdmission admission; // the caller check; null if the server admits every call

    private int place = RunningCalls.NOWHERE; // the slot in the table of running calls; set by the worker
    private boolean served; // true if the method has started; used only by the worker

    ServedCall(Dispatcher dispatcher, ServerCall call, boolean critical, boolean counted) {
        super(dispatcher, call, critical, counted);
    }

    /** Runs the call on a worker thread. */
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
        Thrown.log(failure, exception -> LOG.error("{} could not be started", found.method(), exception));
        end(null, ServedFailures.notStarted(found.method(), served ? Executed.MAYBE : Executed.NO, failure));
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

    /** Runs the steps of a served call in order, from the check of the caller to the service's method. */
    private void serve() {
        long started = dispatcher.clock().nanoTime();
        CallLedger ledger = dispatcher.ledgers().begin(started, started - call.receivedNanos());
        long mark = RequestMemory.mark(call);
        Invocation invocation = decode(ledger, started);
        long requestMemory = RequestMemory.since(mark, call);
        if (invocation == null || !mayStart(invocation, started)) {
            return; // the call has been answered, or its client has disconnected
        }
        MethodHandler found = Objects.requireNonNull(handler);
        ServerContext serving = Objects.requireNonNull(context);
        holdMemory(requestMemory);
        place = dispatcher.ledgers().runs(this);
        served = true;
        threadEnters(found);
        ServerContext before = ServerContext.replace(serving);
        try {
            invoke(found, invocation, serving);
        } finally {
            threadReturns(found);
            ServerContext.replace(before);
            leave(ledger);
        }
    }

    /**
     * Checks the caller, decodes the request and finds its method.
     *
     * @return null if the call has been answered with a failure
     */
    private @Nullable Invocation decode(CallLedger ledger, long started) {
        Invocation invocation;
        Principal caller;
        MethodHandler found;
        try {
            enterNamedMethod(started);
            CallAdmission check = admission();
            invocation = call.decode(dispatcher.registry(), check == null ? CallAdmission.OPEN : check);
            caller = check == null ? call.peerPrincipal() : check.requireAdmitted(invocation);
            found = dispatcher.registry().handler(invocation);
        } catch (Throwable e) {
            failUndecoded(e);
            return null;
        }
        handler = found;
        found.meters(call.protocol()).dequeued(started - call.receivedNanos());
        ledger.turnTo(Phase.OWN);
        context = new ServerContext(invocation, call, ledger, caller);
        return invocation;
    }

    /**
     * Checks the deadline and the method's limit, and starts watching the deadline.
     *
     * @return false if the call has ended
     */
    private boolean mayStart(Invocation invocation, long started) {
        MethodHandler found = Objects.requireNonNull(handler);
        if (hasEnded()) {
            return false; // the client disconnected while the request was being decoded
        }
        Deadline deadline = invocation.deadline();
        if (deadline.isExpired(dispatcher.clock().nanoTime())) {
            end(null, ServedFailures.lateInQueue(invocation));
            return false;
        }
        call.watch(deadline.isLimited() ? deadline.nanoTime() : Long.MAX_VALUE, this);
        try {
            enterMethod(found.method(), found.limiter(), started);
            return true;
        } catch (RpcException e) {
            end(null, e);
            return false;
        }
    }

    /** Returns the check of the caller's token and permissions; null if the server admits every call. */
    private @Nullable CallAdmission admission() {
        CallGate gate = dispatcher.gate();
        if (gate.isOpen()) {
            return null;
        }
        CallAdmission check = new CallAdmission(gate, call, this, dispatcher.clock());
        admission = check;
        return check;
    }

    /**
     * Records that the worker has finished working on the call. If the call has already ended, releases its resources.
     * A call counts as running until it has ended and its worker has finished.
     */
    private void leave(CallLedger ledger) {
        boolean streams = stream != null;
        if (streams) {
            streamContinues();
        }
        if (state == RUNNING) {
            // The call stays in the UNATTRIBUTED phase until another thread completes it.
            ledger.turnTo(Phase.UNATTRIBUTED);
            if (!streams) {
                ledger.continuesWith(
                        new LaterResult(Objects.requireNonNull(handler).last()::type));
                workerLeaves();
            }
            if (STATE.compareAndSet(this, RUNNING, LEFT)) {
                return;
            }
            resultArrived(null); // it may have arrived before the ledger knew that it would come later
            if (!streams) {
                workerStays();
            }
        }
        stopped(false);
    }

    /** @return whether the current thread ended the call; false if another thread has already ended it */
    private boolean endRunning() {
        return STATE.compareAndSet(this, RUNNING, ENDED) || STATE.compareAndSet(this, LEFT, ENDED_LAST);
    }

    /** Returns whether the call has been answered or is being answered. The call's meters might not be updated yet. */
    boolean hasEnded() {
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
                methodReturned(found);
                stage.whenComplete(this::end);
                return;
            }
            Object result = found.last().runUnary(invocation.arguments(), serving);
            methodReturned(found);
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
                methodReturned(found);
            }
            end(null, e);
        }
    }

    private void serveStream(MethodHandler found, Invocation invocation, ServerContext serving) {
        ServedStream served = new ServedStream(
                found,
                call,
                serving,
                dispatcher.clock(),
                dispatcher.streamWaits(),
                dispatcher.streamExecutor(call.share(), this::noThread));
        stream = served;
        if (hasEnded()) {
            return; // the call has ended before its method was called, for example because the client disconnected
        }
        served.run(invocation, this::end);
    }

    /**
     * Ends a call whose method is known: answers the call and then updates the meters. Only the first invocation has an
     * effect.
     */
    private void end(@Nullable Response response, @Nullable Throwable failure) {
        resultArrived(failure);
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
     * Records that the result of an asynchronous method has arrived, possibly after the end of the call. A cancellation
     * is no result: it follows the end of the call.
     */
    private void resultArrived(@Nullable Throwable failure) {
        ServerContext serving = context;
        LaterResult later = serving == null ? null : serving.ledger().laterResult();
        boolean isCancelled = failure != null && ExceptionPolicy.unwrapped(failure) instanceof CancellationException;
        if (later != null && !isCancelled) {
            later.complete();
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
            RpcException reported = ServedFailures.unanswerable(found.method(), e);
            failAnyhow(reported);
            return reported;
        }
    }

    /**
     * Answers with a failure. The transport replaces a failure that it cannot encode. An exception from the transport
     * does not prevent the remaining steps of the call.
     */
    private void failAnyhow(RpcException failure) {
        try {
            call.fail(failure, new Metadata());
        } catch (Throwable e) {
            Thrown.log(e, exception -> LOG.error("{} could not be answered", name(), exception));
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
        Refusal reason = dispatcher.reasonToRefuse(this);
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

    /** Ends a stream because all threads for callbacks are blocked. */
    private void noThread() {
        if (endRunning()) {
            RpcException refused = ServedFailures.noThread(name(), dispatcher.streamThreads());
            failAnyhow(refused);
            cancel(refused);
        }
    }

    /**
     * Answers the caller while an authorizer is still deciding. The authorizer occupies its worker until it returns.
     */
    private void endUndecided() {
        CallAdmission check = admission;
        RpcException late = check == null ? null : check.late();
        if (late != null && STATE.compareAndSet(this, RUNNING, ENDED)) {
            failAnyhow(late);
        }
    }

    /**
     * Returns whether the deadline has passed. The timer can fire before the deadline, because it also limits the wait
     * in the queue. A worker may have taken the call just before the timer fired.
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
            long now = dispatcher.clock().nanoTime();
            cancel(ServedFailures.callerIsGone(name(), context, now, now - call.receivedNanos()));
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
            Thrown.log(e, exception -> LOG.error("{} could not be counted", found.method(), exception));
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

    /** Releases the call's permits. Runs once, when the call has been answered and its worker has finished. */
    private void stopped(boolean workerLeftBefore) {
        dispatcher.ledgers().stopped(place, this);
        release(stream != null, workerLeftBefore);
    }

    /**
     * Passes the call to the reserve threads ({@link MethodReserve}) if its method may use the reserve. Called before a
     * worker gets the call. Returns whether the reserve took the call.
     */
    boolean offerTo(MethodReserve reserve, @Nullable Share share) {
        return reserve.offer(this, call, share);
    }

    /** Returns whether the call has a stream of requests or answers. Any thread may call this. */
    boolean isStream() {
        MethodHandler found = handler;
        return found != null && !found.isUnary();
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
