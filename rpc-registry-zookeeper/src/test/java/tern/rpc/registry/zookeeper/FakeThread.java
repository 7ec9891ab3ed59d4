package tern.rpc.registry.zookeeper;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import tern.rpc.NanoClock;
import tern.rpc.registry.RegistryUrl;

/** A session's thread. Delayed tasks run only when the test advances the clock. */
final class FakeThread extends ScheduledThreadPoolExecutor implements NanoClock {

    private record Delayed(Runnable task, long nanos) {}

    private final Queue<Delayed> delayed =
            new PriorityQueue<>(Comparator.comparingLong(Delayed::nanos)); // guarded by this
    private long now; // guarded by this

    FakeThread() {
        super(1);
        setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Creates a session without TLS that runs on this thread. */
    Session session(RegistryUrl url) {
        ZooKeeperSettings settings = ZooKeeperSettings.of(url, name -> {
            throw new AssertionError(name);
        });
        return new Session(settings, this, this);
    }

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        if (delay <= 0) {
            return super.schedule(task, delay, unit);
        }
        synchronized (this) {
            delayed.add(new Delayed(task, now + unit.toNanos(delay)));
        }
        return super.schedule(() -> {}, 1, TimeUnit.DAYS); // The session does not use the returned future.
    }

    /** Returns whether a delayed task waits for the clock. */
    synchronized boolean hasDelayed() {
        return !delayed.isEmpty();
    }

    /** Advances the clock, and waits until the delayed tasks that became due have run. */
    void advance(Duration time) throws Exception {
        long end = nanoTime() + time.toNanos();
        for (Delayed next = nextUntil(end); next != null; next = nextUntil(end)) {
            submit(next.task()).get(60, TimeUnit.SECONDS);
        }
    }

    private synchronized Delayed nextUntil(long end) {
        Delayed next = delayed.peek();
        if (next == null || next.nanos() > end) {
            now = end;
            return null;
        }
        now = next.nanos();
        return delayed.remove();
    }
}
