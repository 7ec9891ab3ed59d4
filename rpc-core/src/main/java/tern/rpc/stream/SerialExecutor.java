package tern.rpc.stream;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Thrown;

/**
 * Runs the tasks of one stream one at a time, in the order in which they were added, on another executor's threads.
 * Each task sees the effects of the previous tasks. Thread-safe. Adding a task never blocks, so event loops may add
 * tasks. After 32 tasks, the executor releases its thread, so that tasks of other streams can run.
 */
public final class SerialExecutor implements Executor {

    private static final Logger LOG = LoggerFactory.getLogger(SerialExecutor.class);

    private static final int TASKS_IN_A_ROW = 32;

    private final Executor threads;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger pending = new AtomicInteger(); // the number of queued and running tasks
    private volatile @Nullable Thread running;

    /**
     * @param threads runs the tasks; if this executor rejects a task or throws, the task runs on the calling thread
     */
    public SerialExecutor(Executor threads) {
        this.threads = threads;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (pending.getAndIncrement() == 0) {
            start();
        }
    }

    /**
     * Runs the task on the calling thread if no other task is queued or running. Otherwise queues the task like
     * {@link #execute}.
     */
    public void executeHere(Runnable task) {
        tasks.add(task);
        if (pending.getAndIncrement() == 0) {
            runTasks();
        }
    }

    /**
     * Returns whether the calling thread is running a task of this executor. If so, all other tasks wait for the
     * calling thread.
     */
    public boolean isRunningHere() {
        return running == Thread.currentThread();
    }

    private void start() {
        if (!isHandedOver()) {
            runTasks();
        }
    }

    /**
     * Submits the next tasks to the thread pool.
     *
     * @return false if the pool has rejected the tasks, so the calling thread must run them
     */
    private boolean isHandedOver() {
        Turn turn = new Turn();
        try {
            threads.execute(turn);
        } catch (RejectedExecutionException e) {
            return !turn.claim();
        } catch (RuntimeException | Error e) {
            // The thread pool has rejected the task, or no thread could be created (OutOfMemoryError).
            Thrown.log(
                    e,
                    exception -> LOG.error(
                            "The executor of a stream failed; its tasks run on the submitting thread", exception));
            return !turn.claim();
        }
        return true;
    }

    private void runTasks() {
        do {
            for (int i = 0; i < TASKS_IN_A_ROW; i++) {
                run(tasks.remove());
                if (pending.decrementAndGet() == 0) {
                    return;
                }
            }
        } while (!isHandedOver());
    }

    private void run(Runnable task) {
        running = Thread.currentThread();
        try {
            task.run();
        } catch (Throwable e) {
            Thrown.log(e, exception -> LOG.error("A task of a stream failed", exception));
        } finally {
            running = null;
        }
    }

    /**
     * Runs the next tasks. If the thread pool queued this object and nevertheless threw an exception, the tasks are
     * still run only once.
     */
    private final class Turn implements Runnable {

        private final AtomicBoolean claimed = new AtomicBoolean();

        boolean claim() {
            return claimed.compareAndSet(false, true);
        }

        @Override
        public void run() {
            if (claim()) {
                runTasks();
            }
        }
    }
}
