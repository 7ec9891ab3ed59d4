package tern.rpc.concurrent;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Thrown;

/**
 * A bounded number of threads with a bounded queue. At most one wake-up is in progress: a producer wakes one idle
 * worker, and no other worker is woken until that worker runs. A worker that takes a task and finds more tasks wakes
 * the next worker. Under load, submitting a task therefore needs no system call. Threads are created on demand. While
 * many tasks are waiting for a thread, each new thread starts another thread. Idle threads are reused in last-in,
 * first-out order, and end after the keep-alive time. With virtual threads and no keep-alive time, the pool starts a
 * new thread instead of waking an idle thread. A {@linkplain #growing growing} pool starts additional threads while all
 * threads are blocked. Thread-safe.
 */
public final class WorkerPool implements Executor, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);

    /** A newly started thread starts another thread if at least {@value} tasks are waiting. */
    private static final int MANY_WAITING = 8;

    private final int maxThreads;
    private final int maxAdmitted;
    private final long keepAliveNanos;
    private final ThreadFactory threadFactory;

    private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger admitted = new AtomicInteger(); // The number of queued and running tasks.
    private final AtomicInteger threads = new AtomicInteger();
    private final Set<Thread> alive = ConcurrentHashMap.newKeySet();
    // True from the wake-up of a worker until the worker runs.
    private final AtomicBoolean waking = new AtomicBoolean();
    // The top of the stack of idle workers.
    private final AtomicReference<@Nullable Idle> idle = new AtomicReference<>();
    // Lets the pool grow while all threads are blocked; null if the pool never grows.
    private final @Nullable StallRelief relief;
    private volatile boolean failing; // True after an attempt to create a thread has failed.
    private volatile boolean closed;

    /**
     * @param maxThreads the maximum number of threads, which is also the maximum number of running tasks
     * @param queueCapacity the maximum number of waiting tasks while all threads are busy
     * @param keepAlive how long an idle thread stays alive, or zero to end threads as soon as no task is waiting
     */
    public WorkerPool(int maxThreads, int queueCapacity, Duration keepAlive, ThreadFactory threadFactory) {
        this(maxThreads, queueCapacity, keepAlive, threadFactory, false, task -> {}, Runnable::run);
    }

    private WorkerPool(
            int maxThreads,
            int queueCapacity,
            Duration keepAlive,
            ThreadFactory threadFactory,
            boolean grows,
            Consumer<? super Runnable> giveUp,
            Executor later) {
        if (maxThreads < 1 || queueCapacity < 0) {
            throw new IllegalArgumentException("a worker pool needs 1 thread or more and a queue of 0 or more, not "
                    + maxThreads + " and " + queueCapacity);
        }
        this.maxThreads = maxThreads;
        this.maxAdmitted = (int) Math.min(Integer.MAX_VALUE, (long) maxThreads + queueCapacity);
        this.keepAliveNanos = keepAlive.toNanos();
        this.threadFactory = threadFactory;
        this.relief = grows ? new StallRelief(this, maxThreads, giveUp, later) : null;
    }

    /**
     * Creates a pool for tasks that can wait for other tasks of the same pool. If all threads stay blocked for a second
     * while tasks are waiting, the pool starts additional threads, up to twice its maximum number.
     *
     * @param giveUp called with one task after another if all additional threads are blocked, too, and no task has
     *     begun for ten seconds. The tasks stay in the queue. Must not block
     */
    public static WorkerPool growing(
            int maxThreads,
            int queueCapacity,
            Duration keepAlive,
            ThreadFactory threadFactory,
            Consumer<? super Runnable> giveUp) {
        return growing(maxThreads, queueCapacity, keepAlive, threadFactory, giveUp, StallRelief.afterASecond());
    }

    /** @param later runs the check of the pool after a second */
    static WorkerPool growing(
            int maxThreads,
            int queueCapacity,
            Duration keepAlive,
            ThreadFactory threadFactory,
            Consumer<? super Runnable> giveUp,
            Executor later) {
        return new WorkerPool(maxThreads, queueCapacity, keepAlive, threadFactory, true, giveUp, later);
    }

    /** An idle worker. Each wait uses a new object, which avoids the ABA problem of lock-free stacks. */
    private static final class Idle {
        final Thread thread;
        final AtomicBoolean taken = new AtomicBoolean();

        @Nullable
        Idle below;

        Idle(Thread thread) {
            this.thread = thread;
        }
    }

    /**
     * Submits a task.
     *
     * @return false, without blocking, if all threads are busy and the queue is full, or if the pool is closed
     */
    public boolean offer(Runnable task) {
        if (closed || !admit()) {
            return false;
        }
        add(task);
        return true;
    }

    private boolean admit() {
        if (admitted.incrementAndGet() <= maxAdmitted) {
            return true;
        }
        admitted.decrementAndGet();
        return false;
    }

    @Override
    public void execute(Runnable task) {
        if (!offer(task)) {
            throw new RejectedExecutionException(
                    closed ? "the worker pool is closed" : maxAdmitted + " tasks are running or waiting already");
        }
    }

    /**
     * Submits an admitted call's task, which processes a stream's message or the stream's end. The task is never
     * rejected, even if the queue is full or the pool is closed. The number of such tasks is limited by the number of
     * calls in flight. Until the task has run, it counts towards the capacity like a task accepted by {@link #offer}.
     */
    public void executeAdmitted(Runnable task) {
        admitted.incrementAndGet();
        add(task);
    }

    private void add(Runnable task) {
        try {
            queue.add(task);
        } catch (Throwable e) { // The task could not be added to the queue, because memory is exhausted.
            admitted.decrementAndGet();
            throw e;
        }
        wakeOne();
    }

    /** Returns the number of threads that may currently run. */
    private int limit() {
        return relief == null ? maxThreads : maxThreads + relief.extra();
    }

    /**
     * Starts a thread after the pool has been permitted to grow. If tasks are waiting, the new thread starts the next
     * thread.
     */
    void relieved() {
        wakeOne();
    }

    boolean hasQueued() {
        return !queue.isEmpty();
    }

    boolean hasExtraThreads() {
        return threads.get() > maxThreads;
    }

    /** Passes the oldest waiting task to the consumer, and moves the task to the end of the queue. */
    void giveUpOldest(Consumer<? super Runnable> consumer) {
        Runnable oldest = queue.poll();
        if (oldest != null) {
            try {
                consumer.accept(oldest);
            } finally {
                queue.add(oldest);
                wakeOne();
            }
        }
    }

    private void wakeOne() {
        do {
            if (idle.get() == null && threads.get() >= limit()) {
                if (relief != null && !queue.isEmpty()) {
                    relief.taskWaits();
                }
                return;
            }
            if (!waking.compareAndSet(false, true)) {
                return;
            }
            Idle top = pop();
            if (top != null) {
                LockSupport.unpark(top.thread);
                return;
            }
            if (startThread()) {
                return;
            }
            waking.set(false);
            // The loop is repeated because another worker may have become idle or ended in the meantime. That worker
            // may not have woken another worker, because it saw that a wake-up was in progress.
        } while (!queue.isEmpty() && (idle.get() != null || (threads.get() < limit() && !failing)));
    }

    private boolean startThread() {
        int count = threads.get();
        while (count < limit()) {
            if (threads.compareAndSet(count, count + 1)) {
                try {
                    threadFactory.newThread(this::work).start();
                    failing = false;
                    return true;
                } catch (RuntimeException | Error e) {
                    failing = true;
                    threads.decrementAndGet();
                    LOG.error("Worker thread {} of {} could not be started", count + 1, maxThreads, e);
                    return false;
                }
            }
            count = threads.get();
        }
        return false;
    }

    /**
     * Runs a worker's loop. Until the loop resets {@link #waking}, the new thread counts as the worker that is being
     * woken.
     */
    private void work() {
        Thread self = Thread.currentThread();
        try {
            // While the flag "waking" is true, the pool wakes no other worker. The flag is reset before this thread
            // registers itself and starts another thread, because both steps need memory and may fail.
            waking.set(false);
            alive.add(self);
            startAnother();
            runQueued();
            while (keepAliveNanos > 0 && !closed && threads.get() <= maxThreads && waitForWork()) {
                waking.set(false);
                runQueued();
            }
        } finally {
            // The thread count must be decreased even if memory is exhausted. Otherwise, the pool would permanently
            // lose a thread.
            alive.remove(self);
            threads.decrementAndGet();
            if (!queue.isEmpty()) {
                wakeOne();
            }
        }
    }

    /**
     * If many tasks are waiting, starts a thread in addition to the thread that {@link #runQueued} wakes. The number of
     * threads therefore grows exponentially. Otherwise, a task would wait until all earlier threads have been scheduled
     * one after another. This takes seconds if the processors are busy.
     */
    private void startAnother() {
        if (idle.get() == null && admitted.get() - threads.get() >= MANY_WAITING) {
            startThread();
        }
    }

    /** Returns whether the thread belongs to this pool. */
    public boolean isWorker(Thread thread) {
        return alive.contains(thread);
    }

    private void runQueued() {
        Runnable task;
        while ((task = queue.poll()) != null) {
            if (!queue.isEmpty()) {
                wakeOne();
            }
            if (relief != null) {
                relief.taskBegins();
            }
            try {
                task.run();
            } catch (Throwable e) {
                Thrown.log(e, exception -> LOG.error("A task of the worker pool failed", exception));
            } finally {
                admitted.decrementAndGet();
            }
        }
    }

    /** @return whether this worker was woken; false if the keep-alive time has passed or the pool was closed */
    private boolean waitForWork() {
        Idle self = new Idle(Thread.currentThread());
        push(self);
        if (!queue.isEmpty() || closed) {
            wakeOne();
        }
        long deadline = System.nanoTime() + keepAliveNanos;
        while (!self.taken.get()) {
            long left = deadline - System.nanoTime();
            if ((left <= 0 || closed) && self.taken.compareAndSet(false, true)) {
                return false;
            }
            LockSupport.parkNanos(this, Math.max(1, left));
            // Clears an interrupt that was meant for an earlier task but arrived late. Without this step, the loop
            // would spin, because the interrupted thread could not park.
            Thread.interrupted();
        }
        return true;
    }

    private void push(Idle node) {
        Idle top;
        do {
            top = idle.get();
            node.below = top;
        } while (!idle.compareAndSet(top, node));
    }

    private @Nullable Idle pop() {
        Idle top;
        while ((top = idle.get()) != null) {
            if (idle.compareAndSet(top, top.below) && top.taken.compareAndSet(false, true)) {
                return top;
            }
        }
        return null;
    }

    /** Returns whether the maximum number of threads is running and no thread is idle. */
    public boolean isSaturated() {
        return threads.get() >= maxThreads && idle.get() == null;
    }

    /** Returns whether the number of queued and running tasks is below the maximum number of threads. */
    public boolean hasRoom() {
        return admitted.get() < maxThreads;
    }

    /** Returns the number of queued and running tasks. */
    public int admitted() {
        return admitted.get();
    }

    /** Returns the number of running tasks. */
    public int active() {
        return Math.max(0, admitted.get() - queued());
    }

    /**
     * Returns the number of waiting tasks. Counting takes time proportional to this number, so this method should be
     * used only for gauges.
     */
    public int queued() {
        return queue.size();
    }

    public int maxThreads() {
        return maxThreads;
    }

    /** Returns the maximum number of running and waiting tasks together. */
    public int maxAdmitted() {
        return maxAdmitted;
    }

    /** Returns the number of live threads. */
    public int threads() {
        return threads.get();
    }

    /**
     * Closes the pool. New tasks are rejected unless they are passed to {@link #executeAdmitted}. Queued tasks still
     * run, and idle threads end.
     */
    @Override
    public void close() {
        closed = true;
        Idle node;
        while ((node = pop()) != null) {
            LockSupport.unpark(node.thread);
        }
    }
}
