package tern.rpc.client;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.cluster.Cluster;

/** Makes calls wait until a provider is available, if the settings of the call allow this. Thread-safe. */
final class ProviderWait {

    /** The interval between a waiting call's checks for an available provider. */
    private static final long LOOK_EVERY_MILLIS = 10;

    private final Cluster cluster;
    private final NanoClock clock;
    private final ScheduledExecutorService timer;
    private final ProviderFailures failures;
    private final Set<Runnable> waiting = ConcurrentHashMap.newKeySet(); // the tasks that the timer has not run yet
    private volatile boolean closed;

    /**
     * @param timer regularly checks whether a provider is available for waiting asynchronous calls
     * @param failures describes why no provider became available before the deadline
     */
    ProviderWait(Cluster cluster, NanoClock clock, ScheduledExecutorService timer, ProviderFailures failures) {
        this.cluster = cluster;
        this.clock = clock;
        this.timer = timer;
        this.failures = failures;
    }

    /** Returns whether the call may wait for a provider instead of failing immediately. */
    static boolean isAllowed(ClientMethod method, Invocation call) {
        Boolean chosen = call.options().isWaitingForReady();
        return chosen == null ? method.waitForReady() : chosen;
    }

    /** Returns whether the call may wait for a provider and currently must wait, because no provider is available. */
    boolean isWaiting(ClientMethod method, Invocation call) {
        return isAllowed(method, call) && !canTake(call);
    }

    private boolean canTake(Invocation call) {
        return cluster.canTake(call.method().distinctName(), CallTags.tag(call), CallTags.isForced(call));
    }

    /**
     * Blocks until a provider can take the call.
     *
     * @param blocked can cancel the call; may be null
     * @throws RpcException if the call's deadline passes first, if the call is cancelled, or if the thread is
     *     interrupted
     */
    void await(Invocation call, @Nullable BlockedCall blocked) {
        while (!canTake(call)) {
            if (blocked != null) {
                blocked.checkCancelled(call);
            }
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
     * Runs {@code next} as soon as a provider is available. Fails the call if it is cancelled or its deadline passes
     * first.
     *
     * @param cancelled returns the failure of a cancelled call, or null if the call is not cancelled
     * @param next the continuation; like {@code failed}, it runs on the call's executor
     */
    WaitingCall whenReady(
            Invocation call, Supplier<@Nullable RpcException> cancelled, Runnable next, Consumer<RpcException> failed) {
        WaitingCall waitingCall = new WaitingCall(call, cancelled, next, failed);
        waitingCall.look();
        return waitingCall;
    }

    /** An asynchronous call waiting for a provider. */
    final class WaitingCall {

        private final Invocation call;
        private final Supplier<@Nullable RpcException> cancelled;
        private final Runnable next;
        private final Consumer<RpcException> failed;
        private final AtomicBoolean finished = new AtomicBoolean();

        WaitingCall(
                Invocation call,
                Supplier<@Nullable RpcException> cancelled,
                Runnable next,
                Consumer<RpcException> failed) {
            this.call = call;
            this.cancelled = cancelled;
            this.next = next;
            this.failed = failed;
        }

        private void look() {
            cluster.attempt();
            if (isGivenUp() || canTake(call)) {
                finish();
            } else if (!finished.get()) {
                later(this::look, TimeUnit.MILLISECONDS.toNanos(LOOK_EVERY_MILLIS));
            }
        }

        private boolean isGivenUp() {
            return cancelled.get() != null || call.deadline().isExpired(clock.nanoTime());
        }

        /**
         * Ends the wait. Only the first invocation has an effect. Both the timer and another thread might call this
         * method.
         */
        private void finish() {
            if (finished.compareAndSet(false, true)) {
                execute(call, () -> afterWait(call, cancelled, next, failed));
            }
        }

        /**
         * Ends the wait early if the call's deadline has passed or the call is cancelled. Does nothing if the wait has
         * ended. Any thread may call this.
         */
        void lookNow() {
            if (isGivenUp()) {
                finish();
            }
        }
    }

    /**
     * Runs the task on the call's executor, or on the calling thread if the client is closed. A call through a closed
     * client then fails.
     */
    static void execute(Invocation call, Runnable task) {
        try {
            call.executor().execute(task);
        } catch (RejectedExecutionException e) {
            task.run();
        }
    }

    /** A task that runs at most once. Any thread may call the methods of this object. */
    final class Later implements Runnable {

        private volatile @Nullable Runnable task; // the task; null after it has run or has been cancelled

        private Later(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            Runnable once = taken();
            if (once != null) {
                once.run();
            }
        }

        /**
         * Prevents the task from running. The timer refers to this object until the delay has passed, but the task can
         * be garbage-collected.
         */
        void cancel() {
            taken();
        }

        /** Returns the task on the first call, and null on later calls. */
        private @Nullable Runnable taken() {
            if (!waiting.remove(this)) {
                return null;
            }
            Runnable once = task;
            task = null;
            return once;
        }
    }

    /**
     * Runs the task once: after the delay, when this object is closed, or when the returned object is run, whichever
     * happens first.
     */
    Later later(Runnable task, long nanos) {
        Later once = new Later(task);
        waiting.add(once);
        try {
            timer.schedule(once, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            once.run(); // The timer rejects the task because the client is closed.
        }
        if (closed) {
            // close() may have run before waiting.add() did. The task is run now, because a closed timer drops its
            // tasks.
            once.run();
        }
        return once;
    }

    /** Returns the number of tasks that have neither run nor been cancelled. */
    int waiting() {
        return waiting.size();
    }

    boolean isClosed() {
        return closed;
    }

    /**
     * Runs all waiting tasks immediately. Tasks added after this call are also run immediately. Therefore all calls
     * through the closed client end.
     */
    void close() {
        closed = true;
        waiting.forEach(Runnable::run);
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

    /** Throws DEADLINE_EXCEEDED if the deadline passed before a provider became available. */
    private void checkWait(Invocation call) {
        if (call.deadline().isExpired(clock.nanoTime())) {
            throw RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    call + " waited for a provider until its deadline: "
                            + call.deadline().origin() + "; " + whyNobody(call),
                    Executed.NO);
        }
    }

    private String whyNobody(Invocation call) {
        String why = cluster.whyNobody(CallTags.tag(call), CallTags.isForced(call), clock.nanoTime());
        return why.isEmpty() ? failures.all() : why;
    }
}
