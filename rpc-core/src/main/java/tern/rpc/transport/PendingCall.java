package tern.rpc.transport;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.MethodType;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * One attempt of a call. The call completes once: with an answer, with a failure, at its deadline or by cancellation.
 * Any thread may complete the call. Later completions are discarded. A caller either blocks in {@link #await()} and
 * decodes the answer itself, or gets the answer through a {@link Completion} on the call's executor.
 */
public final class PendingCall implements Runnable {

    /** A callback for the end of an asynchronous call. */
    @FunctionalInterface
    public interface Completion {
        /** Called when the call has ended. Exactly one of the two arguments is not null. */
        void completed(@Nullable Response response, @Nullable Throwable failure);
    }

    private static final VarHandle OUTCOME;

    /** The value of "outcome" for a call that has been sent and has not ended. */
    private static final Object SENT = new Object();

    static {
        try {
            OUTCOME = MethodHandles.lookup().findVarHandle(PendingCall.class, "outcome", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * The connection of a call. When the call ends without an answer, the connection is notified and cancels the call
     * on the server.
     */
    @FunctionalInterface
    public interface Carrier {
        /** Called when the call has ended without an answer. Runs once, on the thread that ended the call. */
        void abandoned(PendingCall call);

        /**
         * Called when the caller starts to wait. The caller's thread may then read the answer from the socket itself.
         * Runs once on the caller's thread, unless the call has already ended.
         */
        default void awaited(PendingCall call) {}

        /**
         * Returns whether this connection has stopped accepting calls. If so, the next attempt must use another
         * connection. Any thread may call this.
         */
        default boolean isGone() {
            return false;
        }
    }

    private volatile Invocation call;
    private boolean forgetsArguments; // true after forgetArguments(), which is called before the call is sent
    private final boolean oneWay;
    private final @Nullable Completion completion;
    private final long startedNanos;

    // The outcome is null, then SENT, then an Answer or an RpcException. SENT may be skipped. All states are in one
    // field, because a request could otherwise be sent after its call has failed as "not executed".
    private volatile @Nullable Object outcome;
    private volatile @Nullable Thread waiter;
    private volatile boolean answerHere;
    private volatile @Nullable Carrier carrier;
    private volatile long id; // the connection sets the id before it registers the call
    // the object that may send the call to another provider; null for none; set before sending
    private @Nullable Object mover;

    /**
     * @param oneWay whether the call ends once its bytes have been passed to the socket
     * @param completion runs on the call's executor; null if the caller blocks in {@link #await()}
     */
    public PendingCall(Invocation call, boolean oneWay, long startedNanos, @Nullable Completion completion) {
        this.call = call;
        this.oneWay = oneWay;
        this.completion = completion;
        this.startedNanos = startedNanos;
    }

    public Invocation call() {
        return call;
    }

    /**
     * Makes this attempt drop its arguments as soon as the request is passed to the socket. Large arguments then do not
     * occupy memory until the call ends. The attempt must not be sent again. Called before the call is sent.
     */
    public void forgetArguments() {
        forgetsArguments = true;
    }

    /**
     * Allows the given object to end this attempt early, and to send the call to another provider. Called before the
     * call is sent.
     */
    public void movableBy(Object owner) {
        mover = owner;
    }

    /** Returns whether the given object may send the call to another provider. */
    public boolean isMovableBy(Object owner) {
        return mover == owner;
    }

    /** Returns whether the caller blocks in {@link #await()} instead of using a {@link Completion}. */
    public boolean isAwaited() {
        return completion == null;
    }

    public boolean isOneWay() {
        return oneWay;
    }

    /** Returns the time when the attempt started. */
    public long startedNanos() {
        return startedNanos;
    }

    /** Returns the request id that identifies the call on its connection. */
    public long id() {
        return id;
    }

    public void id(long assigned) {
        this.id = assigned;
    }

    /** Sets the attempt's connection. Called before the call is sent. */
    public void carriedBy(Carrier connection) {
        this.carrier = connection;
    }

    /**
     * Returns whether the attempt's connection has stopped accepting calls, or false if the attempt has no connection.
     */
    public boolean isCarrierGone() {
        Carrier current = carrier;
        return current != null && current.isGone();
    }

    /**
     * Records that the request is about to be passed to the socket. After that, the server may run the call.
     *
     * @return false if the call has ended. The caller must then not send the request, because the failure may say that
     *     the call was not executed
     */
    public boolean markSent() {
        boolean isSent = OUTCOME.compareAndSet(this, null, SENT) || outcome == SENT;
        if (isSent && forgetsArguments) {
            call = call.withValues();
        }
        return isSent;
    }

    /** Returns whether the request has been sent and the call has not ended. */
    public boolean wasSent() {
        return outcome == SENT;
    }

    public boolean isDone() {
        return isEnd(outcome);
    }

    private static boolean isEnd(@Nullable Object state) {
        return state != null && state != SENT;
    }

    /** Returns whether the call has ended without an answer. */
    public boolean hasFailed() {
        return outcome instanceof RpcException;
    }

    /**
     * Records that all bytes of the answer have arrived, even if some messages have not been delivered. After that, the
     * call does not fail if the connection is lost. Runs on an event loop.
     */
    public void answerIsHere() {
        answerHere = true;
    }

    public boolean isAnswerHere() {
        return answerHere;
    }

    /**
     * Completes the call with an answer.
     *
     * @return false if the call was already complete; the answer is then discarded
     */
    public boolean answer(Answer answer) {
        if (finish(answer)) {
            return true;
        }
        answer.discard();
        return false;
    }

    /**
     * Completes the call with a failure.
     *
     * @return false if the call was already complete
     */
    public boolean fail(RpcException failure) {
        if (!finish(failure)) {
            return false;
        }
        abandon();
        return true;
    }

    /**
     * Completes the call with a failure that says whether the call may have been executed.
     *
     * @param failure creates the failure. The argument of this function is MAYBE if the request has been sent, and NO
     *     if the request will never be sent. The function may be called twice if the request is being sent at the same
     *     time
     * @return false if the call was already complete
     */
    public boolean fail(Function<Executed, RpcException> failure) {
        Object state = outcome;
        while (!isEnd(state)) {
            RpcException made = failure.apply(state == SENT ? Executed.MAYBE : Executed.NO);
            if (OUTCOME.compareAndSet(this, state, made)) {
                finished();
                abandon();
                return true;
            }
            state = outcome;
        }
        return false;
    }

    private void abandon() {
        Carrier current = carrier;
        if (current != null) {
            current.abandoned(this);
        }
    }

    private boolean finish(Object result) {
        Object state = outcome;
        while (!isEnd(state)) {
            if (OUTCOME.compareAndSet(this, state, result)) {
                finished();
                return true;
            }
            state = outcome;
        }
        return false;
    }

    private void finished() {
        if (completion == null) {
            Thread thread = waiter;
            if (thread != null) {
                LockSupport.unpark(thread);
            }
            return;
        }
        try {
            call.executor().execute(this);
        } catch (RejectedExecutionException e) {
            run();
        }
    }

    /**
     * Blocks until the call ends, and decodes the answer on this thread. This method needs no timeout, because the
     * connection fails the call at its deadline.
     *
     * @throws Throwable the exception of the method, or an {@link RpcException}. If the thread is interrupted, the
     *     exception is CANCELLED, and the interrupt flag is set again
     */
    public Response await() throws Throwable {
        Carrier current = carrier;
        if (!isDone() && current != null) {
            current.awaited(this);
        }
        if (!isDone()) {
            waiter = Thread.currentThread();
            while (!isDone()) {
                LockSupport.park(this);
                if (Thread.interrupted()) {
                    Thread.currentThread().interrupt();
                    fail(new RpcException(
                            StatusCode.CANCELLED,
                            call.method() + ": the calling thread was interrupted",
                            Executed.MAYBE,
                            null));
                }
            }
        }
        return result();
    }

    private Response result() throws Throwable {
        Object result = outcome;
        if (result instanceof Answer answer) {
            Response response = answer.decode(call);
            if (response.value() == null) {
                checkMayBeNull();
            }
            return response;
        }
        throw (Throwable) Objects.requireNonNull(result);
    }

    /**
     * Throws an exception if the result is null although its type is primitive. This can happen if the provider was
     * compiled with another version of the interface, in which the result type is a wrapper class.
     */
    private void checkMayBeNull() {
        Class<?> declared = call.method().result().raw();
        if (declared.isPrimitive() && declared != void.class && call.method().type() == MethodType.UNARY) {
            throw new RpcException(
                    StatusCode.INTERNAL,
                    call + ": the answer is null, but the method is declared to return " + declared.getName(),
                    Executed.YES,
                    null);
        }
    }

    /** Runs the {@link Completion}. Called only by the call's executor. */
    @Override
    public void run() {
        Response response;
        try {
            response = result();
        } catch (Throwable e) {
            completed(null, e);
            return;
        }
        completed(response, null);
    }

    private void completed(@Nullable Response response, @Nullable Throwable failure) {
        if (completion != null) {
            completion.completed(response, failure);
        }
    }

    @Override
    public String toString() {
        return call.method().fullName();
    }
}
