package tern.rpc.client;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;

/**
 * The tasks of a call whose caller blocks. The caller's thread runs these tasks while it waits for the call. The call
 * therefore needs no callback thread, and can end even if all callback threads are waiting for other calls. Any thread
 * may call {@link #execute}.
 */
final class CallersTasks implements Executor {

    private final Thread thread = Thread.currentThread();
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Executor afterwards;
    private volatile boolean gone;

    /** @param afterwards runs the tasks that arrive after {@link #leave} */
    CallersTasks(Executor afterwards) {
        this.afterwards = afterwards;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (gone) {
            handOver();
        } else {
            wake();
        }
    }

    /** Unparks the caller's thread. Any thread may call this. */
    void wake() {
        LockSupport.unpark(thread);
    }

    /** Runs the tasks that have arrived. Only the caller's thread may call this. */
    void runAll() {
        Runnable task;
        while ((task = tasks.poll()) != null) {
            task.run();
        }
    }

    boolean isEmpty() {
        return tasks.isEmpty();
    }

    /** Passes all remaining and later tasks to another executor, because the caller's thread has stopped waiting. */
    void leave() {
        gone = true;
        handOver();
    }

    private void handOver() {
        Runnable task;
        while ((task = tasks.poll()) != null) {
            try {
                afterwards.execute(task);
            } catch (RejectedExecutionException e) {
                task.run(); // The executor has rejected the task, because the client is closed.
            }
        }
    }
}
