package tern.rpc.grpc;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs a listener's callbacks one after another. A thread that adds a callback runs it immediately, unless a second
 * thread is already running callbacks. In this case, the second thread runs the new callback, too. Thread-safe.
 */
final class Callbacks {

    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger unfinished = new AtomicInteger(); // the number of queued and running tasks

    /** @param task a task that does not throw exceptions */
    void run(Runnable task) {
        tasks.add(task);
        if (unfinished.getAndIncrement() == 0) {
            runAll();
        }
    }

    /**
     * Adds a task from a thread that must not run service code. If another thread is already running tasks, that thread
     * runs the task; otherwise the executor runs it.
     */
    void run(Runnable task, Executor elsewhere) {
        tasks.add(task);
        if (unfinished.getAndIncrement() == 0) {
            elsewhere.execute(this::runAll);
        }
    }

    private void runAll() {
        do {
            tasks.remove().run();
        } while (unfinished.decrementAndGet() != 0);
    }
}
