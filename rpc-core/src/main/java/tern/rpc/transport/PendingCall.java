package tern.rpc.transport;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.MethodType;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * One attempt of one call on its way: sent, and waiting for what comes first of answer, failure, deadline and cancel.
 * Any thread may complete it; the first wins, and what the others bring is discarded. A caller either waits in
 * {@link #await()} and decodes the answer itself, or gets it through a {@link Completion} on the call's executor.
 */
public final class PendingCall implements Runnable {

    /** Told the end of a call that nobody waits for. */
    @FunctionalInterface
    public interface Completion {
        /** Exactly one of the two is null. */
        void completed(@Nullable Response response, @Nullable Throwable failure);
    }

    private static final VarHandle OUTCOME;

    static {
        try {
            OUTCOME = MethodHandles.lookup().findVarHandle(PendingCall.class, "outcome", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Told that a call ended without an answer, so that its server can be told too. */
    @FunctionalInterface
    public interface Carrier {
        /** On the thread that ended the call, once. */
        void abandoned(PendingCall call);

        /**
         * The caller begins to wait, so its thread may be used to bring the answer. On that thread, once, and not if the
         * call has ended before.
         */
        default void awaited(PendingCall call) {}

        /** Whether it takes no more calls, so that the next attempt travels on another one. Any thread. */
        default boolean isGone() {
            return false;
        }
    }

    private final Invocation call;
    private final boolean oneWay;
    private final @Nullable Completion completion;
    private final long startedNanos;

    private volatile @Nullable Object outcome; // null, Answer or RpcException; set once
    private volatile @Nullable Thread waiter;
    private volatile boolean sent;
    private volatile boolean answerHere;
    private volatile @Nullable Carrier carrier;
    private volatile long id; // given by the connection before the call can be found by it

    /**
     * @param oneWay whether the call ends when its bytes were handed to the socket
     * @param completion runs on the call's executor; null for a caller that waits
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

    /** Whether its caller waits in {@link #await()}. */
    public boolean isAwaited() {
        return completion == null;
    }

    public boolean isOneWay() {
        return oneWay;
    }

    /** When the attempt began. */
    public long startedNanos() {
        return startedNanos;
    }

    /** The request id on its connection. */
    public long id() {
        return id;
    }

    public void id(long assigned) {
        this.id = assigned;
    }

    /** Who carries it; set before it is sent. */
    public void carriedBy(Carrier connection) {
        this.carrier = connection;
    }

    /** Whether the connection that carried it takes no more calls; false if none carried it. */
    public boolean isCarrierGone() {
        Carrier present = carrier;
        return present != null && present.isGone();
    }

    /** The request is being handed to the socket, so that the server may run it. */
    public void sent() {
        sent = true;
    }

    /** Whether the server may have seen the request. */
    public boolean wasSent() {
        return sent;
    }

    public boolean isDone() {
        return outcome != null;
    }

    /** Whether it ended without an answer. */
    public boolean hasFailed() {
        return outcome instanceof RpcException;
    }

    /** All of the answer has come, though not all was told: from here on the connection may be lost. Event loop. */
    public void answerIsHere() {
        answerHere = true;
    }

    public boolean isAnswerHere() {
        return answerHere;
    }

    /** An answer came. The answer is discarded if the call is over. */
    public boolean answer(Answer answer) {
        if (finish(answer)) {
            return true;
        }
        answer.discard();
        return false;
    }

    /** There will be no answer. */
    public boolean fail(RpcException failure) {
        if (!finish(failure)) {
            return false;
        }
        Carrier present = carrier;
        if (present != null) {
            present.abandoned(this);
        }
        return true;
    }

    private boolean finish(Object result) {
        if (outcome != null || !OUTCOME.compareAndSet(this, null, result)) {
            return false;
        }
        if (completion == null) {
            Thread thread = waiter;
            if (thread != null) {
                LockSupport.unpark(thread);
            }
            return true;
        }
        try {
            call.executor().execute(this);
        } catch (RejectedExecutionException e) {
            run();
        }
        return true;
    }

    /**
     * Waits for the end and decodes the answer on this thread. There is no time limit here: the connection fails the
     * call at its deadline.
     *
     * @throws Throwable what the method threw, or an {@link RpcException}; with code CANCELLED when the thread was
     *     interrupted, whose interrupt flag is set again
     */
    public Response await() throws Throwable {
        Carrier present = carrier;
        if (outcome == null && present != null) {
            present.awaited(this);
        }
        if (outcome == null) {
            waiter = Thread.currentThread();
            while (outcome == null) {
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

    /** The provider may have compiled against another interface, which declares a class. */
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

    /** The end of a call with a {@link Completion}; called by its executor only. */
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
