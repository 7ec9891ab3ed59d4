package tern.rpc.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;

/**
 * A thread that waits for a stage and meanwhile runs what is handed to it: with filters around a blocking call, the
 * answer is decoded and the stages complete on the caller's own thread. {@link #execute} from any thread.
 */
final class WaitingCaller implements CallScope {

    private final Thread thread = Thread.currentThread();
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Executor afterwards;
    private volatile boolean gone;
    private final long began;
    private volatile @Nullable AsyncCall passedOn;

    /**
     * @param afterwards runs what is handed over when the thread waits no more, so that no answer is left undecoded
     * @param began when the call did, for messages
     */
    WaitingCaller(Executor afterwards, long began) {
        this.afterwards = afterwards;
        this.began = began;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (gone) {
            handOver();
        } else {
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void passedOn(AsyncCall call) {
        passedOn = call; // only this thread gives up, and it is busy making the call now
    }

    private void handOver() {
        Runnable task;
        while ((task = tasks.poll()) != null) {
            afterwards.execute(task);
        }
    }

    /**
     * Waits; by the creating thread only.
     *
     * @throws Throwable what the stage failed with, without a wrapper
     */
    <T extends @Nullable Object> T await(CompletableFuture<T> future, Invocation call, NanoClock clock)
            throws Throwable {
        try {
            return awaitEnd(future, call, clock);
        } finally {
            AsyncCall sent = passedOn;
            if (sent != null && (!future.isDone() || future.isCompletedExceptionally())) {
                sent.cancel(); // unless it has ended, which it need not have when filters failed
            }
            gone = true;
            handOver();
        }
    }

    private <T extends @Nullable Object> T awaitEnd(CompletableFuture<T> future, Invocation call, NanoClock clock)
            throws Throwable {
        if (!future.isDone()) {
            future.whenComplete((value, failure) -> LockSupport.unpark(thread));
        }
        Deadline deadline = call.deadline();
        AsyncCall expired = null;
        while (true) {
            Runnable task;
            while ((task = tasks.poll()) != null) {
                task.run();
            }
            if (future.isDone()) {
                return get(future);
            }
            long left = deadline.remainingNanos(clock.nanoTime());
            AsyncCall sent = passedOn;
            if (left <= 0 && sent != null && sent != expired) {
                expired = sent;
                sent.expire(); // ends the call behind the filters with its address; they see that failure first
                continue;
            }
            if (left <= 0 && tasks.isEmpty()) {
                throw filtersAreLate(deadline, call, sent);
            }
            LockSupport.parkNanos(this, Math.max(left, 1));
            if (Thread.interrupted()) {
                thread.interrupt();
                throw new RpcException(
                        StatusCode.CANCELLED, call + ": the calling thread was interrupted", Executed.MAYBE, null);
            }
        }
    }

    private RpcException filtersAreLate(Deadline deadline, Invocation call, @Nullable AsyncCall sent) {
        Endpoint endpoint = sent == null ? null : sent.endpoint();
        String where = endpoint == null ? ", which was not sent yet," : " at " + endpoint;
        return RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "the filters around " + call + where + " did not end within " + deadline.describe(began),
                endpoint == null ? Executed.NO : Executed.MAYBE);
    }

    private static <T extends @Nullable Object> T get(CompletableFuture<T> future) throws Throwable {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
