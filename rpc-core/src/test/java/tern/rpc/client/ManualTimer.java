package tern.rpc.client;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A timer whose tasks run only when the test starts them. Periodic tasks never run. */
final class ManualTimer extends ScheduledThreadPoolExecutor {

    /** A task of this timer, with its scheduled delay. */
    final class Task extends FutureTask<Object> implements ScheduledFuture<Object> {

        final long nanos;

        Task(Runnable command, long nanos) {
            super(command, null);
            this.nanos = nanos;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(nanos, other.getDelay(TimeUnit.NANOSECONDS));
        }

        @Override
        protected void done() {
            waiting.remove(this);
        }
    }

    private final List<Task> waiting = new CopyOnWriteArrayList<>();

    ManualTimer() {
        super(0);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
        if (isShutdown()) {
            throw new RejectedExecutionException();
        }
        Task task = new Task(command, unit.toNanos(delay));
        waiting.add(task);
        return task;
    }

    /** Returns the tasks that have been neither run nor cancelled. */
    List<Task> waiting() {
        return List.copyOf(waiting);
    }

    void runAll() {
        waiting().forEach(Task::run);
    }
}
