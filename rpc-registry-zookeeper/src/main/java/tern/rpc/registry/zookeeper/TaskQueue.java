package tern.rpc.registry.zookeeper;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs tasks one after another on one thread. All tasks that arrive while the thread is busy are passed to the thread
 * together, because passing a task to a thread takes longer than running most tasks. Thread-safe.
 */
final class TaskQueue {

    /**
     * The maximum number of tasks that run one after another before the thread can run tasks that were not added to
     * this queue, such as delayed tasks.
     */
    private static final int MAX_TASKS = 256;

    private final Executor thread;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean handedOver = new AtomicBoolean();

    /** @param thread runs its tasks on one thread */
    TaskQueue(Executor thread) {
        this.thread = thread;
    }

    /**
     * Adds a task. The task must not throw exceptions.
     *
     * @throws RejectedExecutionException if the thread accepts no more tasks
     */
    void add(Runnable task) {
        tasks.add(task);
        handOver();
    }

    private void handOver() {
        if (handedOver.compareAndSet(false, true)) {
            thread.execute(this::run);
        }
    }

    private void run() {
        // The flag is reset before the tasks run. A task that is added afterwards either is run by the current call to
        // run() or causes a new call to run().
        handedOver.set(false);
        runSome();
        if (!tasks.isEmpty()) {
            try {
                handOver();
            } catch (RejectedExecutionException e) { // The thread is being closed, so this is the last call to run().
                while (!tasks.isEmpty()) {
                    runSome();
                }
            }
        }
    }

    private void runSome() {
        for (int i = 0; i < MAX_TASKS; i++) {
            Runnable task = tasks.poll();
            if (task == null) {
                return;
            }
            task.run();
        }
    }

    /** Returns the number of tasks waiting for the thread. */
    int size() {
        return tasks.size();
    }
}
