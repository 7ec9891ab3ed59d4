package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.pool.PoolSnapshot;

/** Counts one executor's tasks, and measures how long they wait and run. Thread-safe. */
final class TaskTimes {

    private final LongAdder started = new LongAdder();
    private final LongAdder waitedNanos = new LongAdder();
    private final LongAdder ranNanos = new LongAdder();

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

    PoolSnapshot.Builder into(PoolSnapshot.Builder snapshot) {
        return snapshot.counts(started.sum(), 0)
                .sums(Duration.ofNanos(waitedNanos.sum()), Duration.ofNanos(ranNanos.sum()));
    }
}
