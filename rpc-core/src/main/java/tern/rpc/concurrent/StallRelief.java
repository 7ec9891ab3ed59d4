package tern.rpc.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Thrown;

/**
 * Lets a {@link WorkerPool} grow while all of its threads are blocked. The threads might be waiting for tasks in the
 * pool's own queue, for example if stream callbacks wait for other streams of the same server. Without additional
 * threads, such a pool would be blocked forever.
 *
 * <p>While tasks wait, the relief checks the pool every second. If no task has begun since the last check, the pool may
 * start additional threads for the waiting tasks. These threads end when no task is waiting. One minute later, the pool
 * may no longer start such threads. If the pool has started all additional threads and no task begins for ten seconds,
 * each check gives up one waiting task.
 */
final class StallRelief {

    private static final Logger LOG = LoggerFactory.getLogger(StallRelief.class);

    private static final int CHECKS_BEFORE_GIVING_UP = 10;

    /**
     * After {@value} checks without a waiting task, no more additional threads may start. The permission is kept for a
     * while, because a pool whose threads were all blocked is often blocked again soon, and would then lose another
     * second.
     */
    private static final int CHECKS_BEFORE_SHRINKING = 60;

    private final WorkerPool pool;
    private final int maxExtra;
    private final Consumer<? super Runnable> giveUp;
    private final Executor later;
    private final AtomicBoolean watching = new AtomicBoolean(); // true while a check for blocked threads is scheduled
    private volatile boolean moved; // true if a task has begun since the last check
    private volatile int extra;
    private int stalls; // the number of consecutive checks that found no newly begun task; used only by the check
    private int calm; // the number of consecutive checks that found no waiting task; used only by the check

    /**
     * @param maxExtra the maximum number of additional threads
     * @param giveUp called with a task that is still waiting although the pool has all additional threads. The task
     *     still runs when a thread becomes free
     * @param later runs a check after a second
     */
    StallRelief(WorkerPool pool, int maxExtra, Consumer<? super Runnable> giveUp, Executor later) {
        this.pool = pool;
        this.maxExtra = maxExtra;
        this.giveUp = giveUp;
        this.later = later;
    }

    static Executor afterASecond() {
        return CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS, Runnable::run);
    }

    /** Returns the number of threads that the pool may currently start in addition to its usual maximum. */
    int extra() {
        return extra;
    }

    /** Called when no thread is free for a task. */
    void taskWaits() {
        if (!watching.get() && watching.compareAndSet(false, true)) {
            // The task that most recently began may have begun less than a second ago, so the first check must assume
            // that tasks still begin.
            moved = true;
            checkLater();
        }
    }

    private void checkLater() {
        try {
            later.execute(this::check);
            // Memory is exhausted, so the check could not be scheduled. The next task that has to wait schedules it.
        } catch (Throwable e) {
            watching.set(false);
            Thrown.log(e, exception -> LOG.error("The check of a worker pool could not be scheduled", exception));
        }
    }

    void taskBegins() {
        // The field is read before it is written, because each write invalidates the processor cache line for other
        // threads.
        if (!moved) {
            moved = true;
        }
    }

    private void check() {
        boolean queued = pool.hasQueued();
        calm = queued || pool.hasExtraThreads() ? 0 : calm + 1;
        if (calm > 0 && (extra == 0 || calm > CHECKS_BEFORE_SHRINKING)) {
            extra = 0;
            stalls = 0;
            watching.set(false);
            if (pool.hasQueued()) {
                taskWaits(); // a task was queued just before "watching" was reset, so its check is scheduled now
            }
            return;
        }
        try {
            if (queued) {
                relieve();
            }
        } catch (Throwable e) {
            Thrown.log(e, exception -> LOG.error("The check of a worker pool failed", exception));
        } finally {
            checkLater();
        }
    }

    private void relieve() {
        if (moved) {
            moved = false;
            stalls = 0;
            return;
        }
        stalls++;
        if (extra < maxExtra) {
            // More threads are permitted than there are waiting tasks, because these tasks may in turn wait for other
            // tasks.
            extra = Math.min(maxExtra, 2 * extra + pool.queued() + 1);
            pool.relieved();
        } else if (stalls > CHECKS_BEFORE_GIVING_UP) {
            pool.giveUpOldest(giveUp);
        }
    }
}
