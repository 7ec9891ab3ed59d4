package tern.rpc.grpc;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs what a listener is told one after another: on the thread that has news, or on the one that is telling it already.
 * Thread-safe.
 */
final class Callbacks {

    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger present = new AtomicInteger(); // queued or running

    /** @param task throws nothing */
    void run(Runnable task) {
        tasks.add(task);
        if (present.getAndIncrement() == 0) {
            runAll();
        }
    }

    /** For threads that run no service: if nobody is at it, one of the executor is asked to. */
    void run(Runnable task, Executor elsewhere) {
        tasks.add(task);
        if (present.getAndIncrement() == 0) {
            elsewhere.execute(this::runAll);
        }
    }

    private void runAll() {
        do {
            tasks.remove().run();
        } while (present.decrementAndGet() != 0);
    }
}
