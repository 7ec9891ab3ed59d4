package tern.rpc.stream;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Thrown;

/**
 * Runs the tasks of one stream one at a time, in the order of their arrival, on threads of another executor. Each task
 * sees the effects of the tasks before it. Thread-safe. The hand-over never waits, so event loops may do it. After
 * several tasks in a row it yields the thread to others.
 */
public final class SerialExecutor implements Executor {

    private static final Logger LOG = LoggerFactory.getLogger(SerialExecutor.class);

    private static final int TASKS_IN_A_ROW = 32;

    private final Executor threads;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger present = new AtomicInteger(); // queued or running
    private volatile @Nullable Thread running;

    /** @param threads runs the tasks; if it rejects them, they run on the thread that hands them over */
    public SerialExecutor(Executor threads) {
        this.threads = threads;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (present.getAndIncrement() == 0) {
            start();
        }
    }

    /** Runs the task on the calling thread if no other task is queued or running; otherwise like {@link #execute}. */
    public void executeHere(Runnable task) {
        tasks.add(task);
        if (present.getAndIncrement() == 0) {
            runTasks();
        }
    }

    /** Whether the calling thread runs a task of this executor, so that the other tasks wait for it. */
    public boolean isRunningHere() {
        return running == Thread.currentThread();
    }

    private void start() {
        try {
            threads.execute(this::runTasks);
        } catch (RejectedExecutionException e) {
            runTasks();
        }
    }

    private void runTasks() {
        for (int i = 0; i < TASKS_IN_A_ROW; i++) {
            run(tasks.remove());
            if (present.decrementAndGet() == 0) {
                return;
            }
        }
        start();
    }

    private void run(Runnable task) {
        running = Thread.currentThread();
        try {
            task.run();
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.error("A task of a stream failed", shown));
        } finally {
            running = null;
        }
    }
}
