package tern.rpc;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * A task that another thread runs for the creating thread's call. The time until a thread starts the task is recorded
 * as {@link Phase#EXECUTOR}, and the task's operations are recorded for the call. Unlike {@link ServerContext#wrap},
 * this class passes only the ledger to the task. A task may therefore outlive its call: neither the call's deadline nor
 * its cancellation affects the task.
 */
public final class CallTask implements Runnable {

    /** The name prefix of the threads on which Reactor runs timers by default. */
    private static final String TIMERS = "parallel-";

    private final Runnable task;
    private final CallLedger call;
    private final String executor;
    private final AsyncOperation queued;
    private final long submitted;
    private final long idleBefore;
    private final boolean isScheduled;

    private CallTask(Runnable task, CallLedger call, String executor, boolean isAwaited) {
        this.task = task;
        this.call = call;
        this.executor = executor;
        this.submitted = call.now();
        this.queued = isAwaited ? AsyncOperation.queued(call, executor, submitted) : AsyncOperation.none();
        this.idleBefore = call.idleNanos();
        this.isScheduled = !isAwaited;
    }

    /**
     * Wraps a task so that its work is recorded for the call that the current thread serves. Returns the task unchanged
     * if there is no such call, or if the task is already wrapped.
     *
     * @param executor the executor name, for diagnoses
     */
    public static Runnable of(Runnable task, String executor) {
        return of(task, executor, true);
    }

    /**
     * Works like {@link #of}, but {@link CallLedger#unfinished} does not list the task. Use this for a scheduler that
     * also runs timers. A timer task waits because of its delay, not because all threads are busy, and this method does
     * not know the delay. Therefore, no wait is recorded for a task that starts on one of Reactor's timer threads.
     */
    public static Runnable ofScheduled(Runnable task, String scheduler) {
        return of(task, scheduler, false);
    }

    private static Runnable of(Runnable task, String executor, boolean isAwaited) {
        CallLedger call = CallLedger.current();
        return call.isOpen() && !(task instanceof CallTask) ? new CallTask(task, call, executor, isAwaited) : task;
    }

    /** Wraps a task that returns a result. See {@link #of}. */
    public static <T> Callable<T> ofResult(Callable<T> task, String executor) {
        CallLedger call = CallLedger.current();
        if (!call.isOpen()) {
            return task;
        }
        FutureTask<T> result = new FutureTask<>(task);
        Runnable run = of(result, executor);
        return () -> {
            run.run();
            return result(result);
        };
    }

    private static <T> T result(FutureTask<T> done) throws Exception {
        try {
            return done.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    @Override
    public void run() {
        queued.started();
        CallLedger current = CallLedger.current();
        if (current.isOfSameCall(call)) {
            runByCaller(current);
            return;
        }
        CallLedger part = begin();
        CallLedger before = CallLedger.replace(part);
        try {
            task.run();
        } finally {
            CallLedger.replace(before);
            part.joinAndLeave();
        }
    }

    /**
     * Runs the task on a thread that is already working on the call, for example if a full executor runs the task on
     * the submitting thread.
     */
    private void runByCaller(CallLedger ledger) {
        Phase outer = ledger.enter(Phase.CALLER_RUNS, executor);
        long begun = ledger.now();
        try {
            task.run();
        } finally {
            ledger.leave(outer);
            // the time recorded under the executor's name includes the task's operations; the phase's time does not
            ledger.named(Phase.CALLER_RUNS, executor, ledger.now() - begun);
        }
    }

    private CallLedger begin() {
        CallLedger part = call.child(idleBefore);
        if (isScheduled && Thread.currentThread().getName().startsWith(TIMERS)) {
            return part;
        }
        part.add(Phase.EXECUTOR, part.now() - submitted, executor);
        return part;
    }
}
