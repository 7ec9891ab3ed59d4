package tern.rpc.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;

/**
 * A thread that blocks until a stage completes, and meanwhile runs the tasks passed to {@link #execute}. The caller's
 * thread therefore decodes the answer and completes the stages, even if the blocking call passes through filters. Any
 * thread may call {@link #execute} and {@link #cancel}.
 */
final class WaitingCaller extends NestedCall implements CallScope {

    private final Thread thread = Thread.currentThread();
    private final CallersTasks tasks;
    private volatile boolean cancelled;
    private final long began;
    private final EndpointInvoker endpoints;
    private volatile @Nullable SentCall passedOn;

    /**
     * @param afterwards runs the tasks that arrive after {@link #await} has returned, such as the decoding of late
     *     answers
     * @param began the start of the call, for error messages
     * @param serving the call that the current thread serves; null for none
     * @param endpoints the last step of the call
     */
    WaitingCaller(
            Executor afterwards,
            long began,
            @Nullable ServerContext serving,
            NanoClock clock,
            EndpointInvoker endpoints) {
        super(serving, clock);
        this.tasks = new CallersTasks(afterwards);
        this.began = began;
        this.endpoints = endpoints;
    }

    @Override
    public void execute(Runnable task) {
        tasks.execute(task);
    }

    @Override
    public void passedOn(SentCall call) {
        passedOn = call;
        // If the call was cancelled just before this assignment, the cancelling thread may not have found the sent
        // call.
        if (cancelled) {
            call.cancel();
        }
    }

    @Override
    void cancel() {
        cancelled = true;
        SentCall sent = passedOn;
        if (sent != null) {
            sent.cancel();
        }
    }

    /** Returns the provider of the last attempt, or null if the call has not been sent. */
    @Nullable
    Endpoint endpoint() {
        SentCall sent = passedOn;
        return sent == null ? null : sent.endpoint();
    }

    /**
     * Blocks until the stage completes. Only the thread that created this object may call this.
     *
     * @throws Throwable the failure of the stage without a wrapper
     */
    <T extends @Nullable Object> T await(CompletableFuture<T> future, Invocation call, NanoClock clock)
            throws Throwable {
        try {
            return awaitEnd(future, call, clock);
        } finally {
            SentCall sent = passedOn;
            if (sent != null && (!future.isDone() || future.isCompletedExceptionally())) {
                // Cancels the call, which may still be running although a filter has failed or this thread has been
                // interrupted.
                sent.cancel();
            }
            tasks.leave();
        }
    }

    private <T extends @Nullable Object> T awaitEnd(CompletableFuture<T> future, Invocation call, NanoClock clock)
            throws Throwable {
        if (!future.isDone()) {
            future.whenComplete((value, failure) -> tasks.wake());
        }
        Deadline deadline = call.deadline();
        SentCall expired = null;
        while (true) {
            tasks.runAll();
            if (future.isDone()) {
                return get(future);
            }
            long left = deadline.remainingNanos(clock.nanoTime());
            SentCall sent = passedOn;
            if (left <= 0 && sent != null && sent != expired) {
                expired = sent;
                // Ends the call with a timeout failure, so that the filters can handle this failure before the caller
                // gets it.
                sent.expire();
                continue;
            }
            if (left <= 0 && tasks.isEmpty()) {
                throw filtersAreLate(deadline, call);
            }
            LockSupport.parkNanos(this, Math.max(left, 1));
            if (Thread.interrupted()) {
                thread.interrupt();
                throw new RpcException(
                        StatusCode.CANCELLED, call + ": the calling thread was interrupted", Executed.MAYBE, null);
            }
        }
    }

    private RpcException filtersAreLate(Deadline deadline, Invocation call) {
        Endpoint endpoint = endpoint();
        boolean unsent = endpoint == null && !endpoints.mayPassOnUnseen();
        String where = endpoint != null ? " at " + endpoint : unsent ? ", which was not sent yet," : "";
        return RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "the filters around " + call + where + " did not end within " + deadline.describe(began),
                unsent ? Executed.NO : Executed.MAYBE);
    }

    private static <T extends @Nullable Object> T get(CompletableFuture<T> future) throws Throwable {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
