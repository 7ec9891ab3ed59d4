package tern.rpc.load.cluster;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;

/** A clock and a timer whose tasks run on the calling thread when the benchmark advances the clock. */
final class SimulatedTimer extends ScheduledThreadPoolExecutor implements NanoClock {

    private record Task(long at, long number, Runnable action) {}

    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::number));
    private final ScheduledFuture<?> scheduled;
    private long now;
    private long number;

    SimulatedTimer() {
        super(0);
        scheduled = super.schedule((Callable<@Nullable Void>) () -> null, 1, TimeUnit.DAYS);
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable action, long delay, TimeUnit unit) {
        tasks.add(new Task(now + unit.toNanos(delay), number++, action));
        return scheduled;
    }

    /** Advances the clock, and returns the number of tasks that have run. */
    int move(long nanos) {
        int ran = 0;
        long until = now + nanos;
        while (!tasks.isEmpty() && tasks.peek().at() <= until) {
            Task next = tasks.remove();
            now = Math.max(now, next.at());
            next.action().run();
            ran++;
        }
        now = until;
        return ran;
    }
}
