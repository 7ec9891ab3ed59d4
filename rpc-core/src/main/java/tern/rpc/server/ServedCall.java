package tern.rpc.server;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.security.Principal;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.CallHead;
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
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.limit.Limiter;
import tern.rpc.limit.Refusal;
import tern.rpc.metrics.CallMeters;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.TimeOuts;

/**
 * One call on the server from admission to its end. The event loop makes it, one worker runs it, any thread may end it;
 * the state decides who does.
 */
final class ServedCall implements Runnable, ServerCall.Watcher, ServerCall.Admission {

    private static final Logger LOG = LoggerFactory.getLogger(ServedCall.class);

    private static final int QUEUED = 0;
    private static final int RUNNING = 1;
    private static final int LEFT = 2; // by its worker; somebody else will complete it
    private static final int ENDED = 3; // while it waited, or by or in spite of a worker that is still to leave
    private static final int ENDED_LAST = 4; // after its worker had left

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
    private volatile int state = QUEUED; // changed by STATE; a field of its own object would be one more per call
    private final boolean critical; // and so not counted by the server's limiter
    private volatile boolean spare; // is to be run by a spare thread; changed only before it is handed over

    private volatile @Nullable MethodHandler handler; // set by the worker, read by whoever ends the call
    private volatile @Nullable ServerContext context; // likewise
    private volatile @Nullable ServedStream stream; // likewise; null for a call with one message each way
    private int place = RunningCalls.NOWHERE; // set by the worker, read after it has left
    private @Nullable MethodPlace methodPlace; // likewise; null where methods have no limit
    private boolean served; // worker only: the method was begun
    private boolean returned; // set by the worker, read after it has left: counted as without a thread already
    private boolean admitted; // by the worker alone, as the next
    private @Nullable Principal caller;
    private volatile CallGate.@Nullable Question question; // while somebody is asked whether it may run

    ServedCall(Dispatcher dispatcher, ServerCall call, boolean critical) {
        this.dispatcher = dispatcher;
        this.call = call;
        this.critical = critical;
    }

    /** The whole order of a served call, on a worker thread. */
    @Override
    public void run() {
        if (!STATE.compareAndSet(this, QUEUED, RUNNING)) {
            return; // it waited too long or its peer is gone
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

    /** What happens between reading a call and beginning its method is not its service's, but fails all the same. */
    private void failUnserved(Throwable failure) {
        MethodHandler found = handler;
        if (found == null) {
            failUndecoded(failure);
            return;
        }
        Thrown.log(failure, shown -> LOG.error("{} could not be begun", found.method(), shown));
        end(
                null,
                new RpcException(
                        StatusCode.INTERNAL,
                        found.method() + " could not be begun: "
                                + failure.getClass().getName(),
                        served ? Executed.MAYBE : Executed.NO,
                        failure));
    }

    /** Whether it is to be run by a spare thread, before it is handed over. */
    void waitsForSpareThread(boolean spareThread) {
        spare = spareThread;
    }

    /** No worker will take it, if none has yet. */
    void withdraw() {
        if (STATE.compareAndSet(this, QUEUED, ENDED)) {
            leaveUnserved();
        }
    }

    private void leaveUnserved() {
        if (!critical) {
            dispatcher.leaveUnserved(call);
        }
    }

    private void serve() {
        long started = dispatcher.clock().nanoTime();
        CallLedger ledger = dispatcher.ledgers().begin(started, started - call.receivedNanos());
        Invocation invocation;
        MethodHandler found;
        try {
            enterNamedMethod(started);
            invocation = call.decode(dispatcher.registry(), this);
            checkAdmitted(invocation);
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
            return; // its peer left while it was read
        }
        if (invocation.deadline().isExpired(dispatcher.clock().nanoTime())) {
            end(
                    null,
                    RpcException.refusal(
                            StatusCode.DEADLINE_EXCEEDED,
                            invocation + ": the deadline passed while the call waited for a worker; it was not run",
                            Executed.NO));
            return;
        }
        call.watch(invocation.deadline().isLimited() ? invocation.deadline().nanoTime() : Long.MAX_VALUE, this);
        try {
            enter(found.method(), found.limiter(), started);
        } catch (RpcException e) {
            end(null, e);
            return;
        }
        place = dispatcher.ledgers().runs(this);
        served = true;
        ServerContext before = ServerContext.replace(serving);
        try {
            invoke(found, invocation, serving);
        } finally {
            ServerContext.replace(before);
            leave(ledger);
        }
    }

    /** Where the method is known already, a call too many is not even read. */
    private void enterNamedMethod(long now) {
        MethodDescriptor named = call.namedMethod();
        if (named != null && !dispatcher.gate().asksAuthorizers()) { // strangers are not told that it is full
            enter(named, dispatcher.registry().limiter(named), now);
        }
    }

    private void enter(MethodDescriptor method, @Nullable Limiter limiter, long now) {
        if (limiter == null || methodPlace != null) {
            return;
        }
        if (limiter.enter(null, now) != null) {
            dispatcher.refused(Refusal.METHOD);
            throw MethodLimits.full(method, limiter);
        }
        methodPlace = new MethodPlace(limiter, now);
    }

    @Override
    public boolean isOpen() {
        return dispatcher.gate().isOpen();
    }

    @Override
    public void admit(CallHead head) {
        CallGate.Question asked = new CallGate.Question(head);
        if (dispatcher.gate().asksAuthorizers() && head.deadline().isLimited()) {
            question = asked;
            call.watch(head.deadline().nanoTime(), this);
        }
        caller = dispatcher.gate().admit(head, asked);
        if (asked.isLate(dispatcher.clock().nanoTime())) {
            throw asked.late();
        }
        question = null;
        admitted = true;
        if (!AcceptedTokens.isOpen(head)) {
            call.callerIsKnown();
        }
    }

    /** A transport that forgot to ask lets nobody in. */
    private void checkAdmitted(Invocation invocation) {
        if (isOpen()) {
            caller = call.peerPrincipal();
            return;
        }
        if (!admitted) {
            throw new RpcException(StatusCode.INTERNAL, invocation + " came without being admitted", Executed.NO, null);
        }
        dispatcher.gate().conceal(invocation);
    }

    /** The call stays among the running ones until it has ended too; one that timed out, until its worker leaves. */
    private void leave(CallLedger ledger) {
        boolean streams = stream != null;
        if (streams) {
            leaveServer(false); // may last for hours, and what it does is bounded elsewhere
        }
        if (state == RUNNING) {
            ledger.turnTo(Phase.UNATTRIBUTED); // until somebody completes it
            if (!critical && !streams && !returned) {
                dispatcher.workerLeaves(call);
            }
            if (STATE.compareAndSet(this, RUNNING, LEFT)) {
                return;
            }
            if (!critical && !streams && !returned) {
                dispatcher.workerStays(call);
            }
        }
        stopped(false);
    }

    private void leaveServer(boolean workerLeft) {
        if (critical) {
            return;
        }
        if (workerLeft || returned) {
            dispatcher.workerStays(call);
        }
        dispatcher.leave(call);
    }

    /** @return whether the caller of this method is the one that ends the call, which a worker had taken */
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
            Object result = found.last().run(invocation.arguments());
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
     * The caller may send its next call before the thread has left this one. Where spare threads are given to tenants that
     * hold few, calls that only have to be answered must not count.
     */
    private void returned() {
        if (spare && !returned) {
            returned = true;
            dispatcher.workerLeaves(call);
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
            return; // its peer left before it could be told
        }
        served.run(invocation, this::end);
    }

    /** The one end of a call whose method is known: answer it, then count it. */
    private void end(@Nullable Response response, @Nullable Throwable failure) {
        if (!endRunning()) {
            return; // the deadline was first
        }
        MethodHandler found = Objects.requireNonNull(handler);
        Throwable outgoing = answerAnyhow(found, response, failure);
        count(found, outgoing);
        ServedStream streamed = stream;
        if (streamed != null) {
            streamed.over(RpcException.refusal(
                    StatusCode.CANCELLED, found.method() + ": the call has ended already", Executed.YES));
        }
    }

    /**
     * Nothing may be thrown here, or the call would keep its places.
     *
     * @return the failure as it was answered, or null
     */
    private @Nullable Throwable answerAnyhow(
            MethodHandler found, @Nullable Response response, @Nullable Throwable failure) {
        try {
            return answer(found, response, failure);
        } catch (Throwable e) { // an answer or an exception that cannot be written, or no memory
            RpcException told = e instanceof RpcException known
                    ? known
                    : new RpcException(
                            StatusCode.INTERNAL,
                            found.method() + " could not be answered: "
                                    + e.getClass().getName(),
                            Executed.YES,
                            e);
            failAnyhow(told);
            return told;
        }
    }

    /** Whatever is wrong with a failure is for the transport to put right; what it cannot must not stop what is left to do. */
    private void failAnyhow(RpcException failure) {
        try {
            call.fail(failure, new Metadata());
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.error("{} could not be answered", name(), shown));
        }
    }

    /** @return the failure as it was answered, or null */
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
        Throwable cause = failure != null
                ? failure
                : new RpcException(StatusCode.INTERNAL, "a filter around " + found.method() + " gave no response");
        Throwable outgoing = found.outgoing(afterMethod(found, cause));
        sendHeadersBefore(outgoing);
        call.fail(outgoing, responseMetadata());
        return outgoing;
    }

    /** A failure of a filter that saw the method run. */
    private Throwable afterMethod(MethodHandler found, Throwable cause) {
        ServerContext serving = context;
        return serving != null && serving.hasMethodBegun() ? found.last().ran(cause) : cause;
    }

    private void failUndecoded(Throwable failure) {
        if (STATE.compareAndSet(this, RUNNING, ENDED)) {
            failAnyhow(
                    failure instanceof RpcException known
                            ? known
                            : new RpcException(
                                    StatusCode.INTERNAL,
                                    "the request could not be read: " + Thrown.text(failure),
                                    Executed.NO,
                                    failure));
        }
    }

    @Override
    public void expired() {
        Refusal reason = reasonToRefuse();
        if (reason != null && STATE.compareAndSet(this, QUEUED, ENDED)) {
            leaveUnserved();
            dispatcher.refuse(call, reason);
        } else if (isPastDeadline() && endRunning()) {
            RpcException late = RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    TimeOuts.stillRunning(
                            name(),
                            TimeUnit.NANOSECONDS.toMillis(dispatcher.clock().nanoTime() - call.receivedNanos())),
                    Executed.MAYBE);
            failAnyhow(late);
            cancel(late);
        } else {
            endUndecided();
        }
    }

    /** An authorizer still thinks, and keeps its worker until it has done so; the caller is answered now. */
    private void endUndecided() {
        CallGate.Question asked = question;
        if (asked != null && asked.isLate(dispatcher.clock().nanoTime()) && STATE.compareAndSet(this, RUNNING, ENDED)) {
            failAnyhow(asked.late());
        }
    }

    private @Nullable Refusal reasonToRefuse() {
        if (call.deadline().isExpired(dispatcher.clock().nanoTime())) {
            return Refusal.DEADLINE;
        }
        return !critical && dispatcher.isOverloaded(spare) ? Refusal.WAIT : null;
    }

    /** The time that was over may have been that of the queue, which a worker has just taken the call from. */
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
            cancel(RpcException.refusal(StatusCode.CANCELLED, name() + ": the caller is gone", Executed.MAYBE));
        }
    }

    private void cancel(RpcException reason) {
        MethodHandler found = handler;
        if (found != null) {
            count(found, reason);
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

    private void count(MethodHandler found, @Nullable Throwable failure) {
        try {
            record(found, failure);
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.error("{} could not be counted", found.method(), shown));
        } finally {
            if (state == ENDED_LAST) {
                stopped(true);
            }
        }
    }

    private void record(MethodHandler found, @Nullable Throwable failure) {
        long now = dispatcher.clock().nanoTime();
        long tookNanos = now - call.receivedNanos();
        found.meters(call.protocol()).ended(failure, tookNanos);
        ServerContext serving = context;
        if (serving != null) {
            serving.ledger().joinPresentPart();
            dispatcher.ledgers().ended(found, serving.ledger(), tookNanos, now, failure);
        }
    }

    /** Neither a worker nor a caller has to do with it any more: told once, by the last of the two. */
    private void stopped(boolean workerLeftBefore) {
        dispatcher.ledgers().stopped(place, this);
        if (stream == null) {
            leaveServer(workerLeftBefore);
        }
        MethodPlace held = methodPlace;
        if (held != null) {
            held.leave(dispatcher.clock().nanoTime());
        }
    }

    /** What it does now; only while it runs. Any thread. */
    RunningCall look(long now) {
        MethodDescriptor method = Objects.requireNonNull(handler).method();
        RunningCall seen = Objects.requireNonNull(context)
                .ledger()
                .look(method.service().simpleName() + "." + method.name(), now - call.receivedNanos(), now);
        return state == LEFT ? seen.withoutThread() : seen;
    }

    /** What the method wanted sent before its answer. An exception with a type of its own travels alone (Triple). */
    private void sendHeadersBefore(Throwable outgoing) {
        ServerContext serving = context;
        if (serving != null
                && outgoing instanceof RpcException
                && !serving.responseHeaders().isEmpty()) {
            try {
                serving.sendHeaders();
            } catch (RpcException e) {
                LOG.warn("{}: the headers of a failed answer cannot be sent: {}", name(), e.getMessage());
            }
        }
    }

    private Metadata responseMetadata() {
        ServerContext serving = context;
        return serving == null ? new Metadata() : serving.responseMetadata();
    }

    private String name() {
        MethodHandler found = handler;
        return found == null ? "a call being read" : found.method().fullName();
    }
}
