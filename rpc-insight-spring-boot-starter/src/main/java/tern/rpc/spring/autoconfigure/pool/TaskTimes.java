package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.pool.PoolSnapshot;

/** Counts one executor's tasks, and measures how long they wait and run. Thread-safe. */
final class TaskTimes {

    private final LongAdder started = new LongAdder();
    private final LongAdder waitedNanos = new LongAdder();
    private final LongAdder ranNanos = new LongAdder();
    private final LongAdder rejected = new LongAdder();

    /** Wraps a task when it is submitted. The wrapper measures how long the task waits and runs. */
    Runnable measured(Runnable task) {
        long submitted = System.nanoTime();
        return () -> {
            long begun = System.nanoTime();
            started.increment();
            waitedNanos.add(begun - submitted);
            try {
                task.run();
            } finally {
                ranNanos.add(System.nanoTime() - begun);
            }
        };
    }

    /** Returns a handler that counts the tasks for which the given handler throws an exception. */
    RejectedExecutionHandler counting(RejectedExecutionHandler handler) {
        return (task, executor) -> {
            try {
                handler.rejectedExecution(task, executor);
            } catch (RejectedExecutionException e) {
                rejected();
                throw e;
            }
        };
    }

    /** Counts a task that was rejected with an exception. */
    void rejected() {
        rejected.increment();
    }

    PoolSnapshot.Builder into(PoolSnapshot.Builder snapshot) {
        return snapshot.counts(started.sum(), rejected.sum())
                .sums(Duration.ofNanos(waitedNanos.sum()), Duration.ofNanos(ranNanos.sum()));
    }
}
