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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Thrown;

/**
 * Bounded threads with a bounded queue, fed so that at most one wake-up is in flight: a producer wakes one idle worker
 * and nobody wakes another until that one runs; a worker that takes a task and sees more behind it wakes the next. Under
 * load a hand-over then costs no system call. Threads are made on demand, idle ones are reused last-in first-out and end
 * after a while. With virtual threads and no keep-alive the same rules start a thread where others would wake one.
 * Thread-safe.
 */
public final class WorkerPool implements Executor, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);

    private final int maxThreads;
    private final int maxAdmitted;
    private final long keepAliveNanos;
    private final ThreadFactory threadFactory;

    private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger admitted = new AtomicInteger(); // queued or running
    private final AtomicInteger threads = new AtomicInteger();
    private final Set<Thread> alive = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean waking = new AtomicBoolean(); // a worker is on its way
    private final AtomicReference<@Nullable Idle> idle = new AtomicReference<>(); // top of the stack
    private volatile boolean failing; // no thread could be made the last time
    private volatile boolean closed;

    /**
     * @param maxThreads most tasks run at once
     * @param queueCapacity most tasks waiting while all threads are busy
     * @param keepAlive after which an idle thread ends; zero to end at once
     */
    public WorkerPool(int maxThreads, int queueCapacity, Duration keepAlive, ThreadFactory threadFactory) {
        if (maxThreads < 1 || queueCapacity < 0) {
            throw new IllegalArgumentException("a worker pool needs 1 thread or more and a queue of 0 or more, not "
                    + maxThreads + " and " + queueCapacity);
        }
        this.maxThreads = maxThreads;
        this.maxAdmitted = (int) Math.min(Integer.MAX_VALUE, (long) maxThreads + queueCapacity);
        this.keepAliveNanos = keepAlive.toNanos();
        this.threadFactory = threadFactory;
    }

    /** A worker that waits for work: one node per wait, so that the stack needs no protection against reuse. */
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
     * Hands over a task.
     *
     * @return false, at once, if all threads are busy and the queue is full or the pool closed
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
     * Hands over a task that belongs to a call which was admitted before: the message of a stream, or its end. It is
     * never refused, not even when the queue is full or the pool closed; the calls in flight bound how many there are.
     * Until it has run, it counts as one that {@link #offer} has admitted.
     */
    public void executeAdmitted(Runnable task) {
        admitted.incrementAndGet();
        add(task);
    }

    private void add(Runnable task) {
        try {
            queue.add(task);
        } catch (Throwable e) { // no memory: the task does not count
            admitted.decrementAndGet();
            throw e;
        }
        wakeOne();
    }

    private void wakeOne() {
        do {
            if ((idle.get() == null && threads.get() >= maxThreads) || !waking.compareAndSet(false, true)) {
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
            // One that went idle or ended meanwhile found somebody on the way and did not wake anybody.
        } while (!queue.isEmpty() && (idle.get() != null || (threads.get() < maxThreads && !failing)));
    }

    private boolean startThread() {
        int count = threads.get();
        while (count < maxThreads) {
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

    /** A worker's life. It begins as the one that was woken. */
    private void work() {
        Thread self = Thread.currentThread();
        try {
            waking.set(false); // first: what follows needs memory, and nobody is woken while this is set
            alive.add(self);
            runQueued();
            while (keepAliveNanos > 0 && !closed && waitForWork()) {
                waking.set(false);
                runQueued();
            }
        } finally { // also when memory is short, or the pool would be a thread short for ever
            alive.remove(self);
            threads.decrementAndGet();
            if (!queue.isEmpty()) {
                wakeOne();
            }
        }
    }

    /** Whether the thread is one of this pool. */
    public boolean isWorker(Thread thread) {
        return alive.contains(thread);
    }

    private void runQueued() {
        Runnable task;
        while ((task = queue.poll()) != null) {
            if (!queue.isEmpty()) {
                wakeOne();
            }
            try {
                task.run();
            } catch (Throwable e) {
                Thrown.log(e, shown -> LOG.error("A task of the worker pool failed", shown));
            } finally {
                admitted.decrementAndGet();
            }
        }
    }

    /** @return whether this worker was woken; false if it waited in vain or the pool is closed */
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
            Thread.interrupted(); // an interrupt meant for an earlier task must not make this loop spin
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

    /** Whether as many threads as allowed exist and none of them is idle. */
    public boolean isSaturated() {
        return threads.get() >= maxThreads && idle.get() == null;
    }

    /** Whether fewer tasks than threads are queued or running. */
    public boolean hasRoom() {
        return admitted.get() < maxThreads;
    }

    /** Tasks queued or running. */
    public int admitted() {
        return admitted.get();
    }

    /** Tasks being run. */
    public int active() {
        return Math.max(0, admitted.get() - queued());
    }

    /** Tasks waiting; counts them, so for gauges only. */
    public int queued() {
        return queue.size();
    }

    public int maxThreads() {
        return maxThreads;
    }

    /** Most tasks that run and wait at once. */
    public int maxAdmitted() {
        return maxAdmitted;
    }

    /** Threads alive. */
    public int threads() {
        return threads.get();
    }

    /** Takes no more tasks but those of {@link #executeAdmitted}; those queued are still run, and idle threads end. */
    @Override
    public void close() {
        closed = true;
        Idle node;
        while ((node = pop()) != null) {
            LockSupport.unpark(node.thread);
        }
    }
}
