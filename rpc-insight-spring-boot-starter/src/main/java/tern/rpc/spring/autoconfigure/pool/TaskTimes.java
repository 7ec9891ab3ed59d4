package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.PoolSnapshot;

/** Counts one executor's tasks, and measures how long they wait and run. Thread-safe. */
final class TaskTimes {

    /**
     * The minimum time between two reads of the stacks of failed tasks, and between two reads of the stacks of
     * submitting threads.
     */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LongAdder started = new LongAdder();
    private final LongAdder waitedNanos = new LongAdder();
    private final LongAdder ranNanos = new LongAdder();
    private final LongAdder rejected = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder inner = new LongAdder(); // tasks that the executor's own threads submitted
    private final AtomicLong submitted = new AtomicLong();
    private final AtomicLong newestStarted = new AtomicLong(); // a task number, in the order of submission
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger mostRunning = new AtomicInteger();
    private final LongAdder othersStarted = new LongAdder(); // tasks that were submitted outside of calls
    private final LongAdder othersRanNanos = new LongAdder();
    private final AtomicInteger othersRunning = new AtomicInteger();
    private volatile @Nullable Failure lastFailure;
    private volatile @Nullable Submitter lastSubmitter;
    private volatile @Nullable String thread; // the name of one of the executor's threads
    private volatile @Nullable String threadPrefix; // the thread's name without its number

    /** A failed task's exception and code. */
    private record Failure(long atNanos, String text) {}

    /** The code and the thread that submitted a task outside of calls. */
    private record Submitter(long atNanos, @Nullable String text) {}

    /** Wraps a task when it is submitted. The wrapper measures how long the task waits and runs. */
    Runnable measured(Runnable task) {
        Submission submission = new Submission();
        return () -> {
            long begun = submission.begin();
            try {
                task.run();
            } catch (Throwable e) {
                failed(e, begun);
                throw e;
            } finally {
                submission.end(begun);
            }
        };
    }

    /** Wraps a task that returns a result. See {@link #measured(Runnable)}. */
    <T> Callable<T> measured(Callable<T> task) {
        Submission submission = new Submission();
        return () -> {
            long begun = submission.begin();
            try {
                return task.call();
            } finally {
                submission.end(begun);
            }
        };
    }

    /** Returns a handler that delegates to the given one and counts the tasks that it rejects with an exception. */
    RejectedExecutionHandler counting(RejectedExecutionHandler handler) {
        return (task, executor) -> {
            try {
                handler.rejectedExecution(task, executor);
            } catch (RejectedExecutionException e) {
                rejected();
                throw e;
            }
        };
    }

    /** Counts a task that was rejected with an exception. */
    void rejected() {
        rejected.increment();
    }

    private final class Submission {
        private final long atNanos = System.nanoTime();
        private final long number = submitted.incrementAndGet();
        private final boolean isOfCall = CallLedger.current().isOpen();
        private final @Nullable Thread submitter = thread == null ? Thread.currentThread() : null;

        Submission() {
            String prefix = threadPrefix;
            if (prefix != null && Thread.currentThread().getName().startsWith(prefix)) {
                inner.increment();
            }
            if (!isOfCall) {
                noteSubmitter(atNanos);
            }
        }

        /** Records that the task starts. Returns the current time. */
        long begin() {
            long now = System.nanoTime();
            newestStarted.accumulateAndGet(number, Math::max);
            // The thread that submits a task runs it itself if the executor is full.
            if (thread == null && submitter != null && submitter != Thread.currentThread()) {
                thread = Thread.currentThread().getName();
                threadPrefix = prefixOf(Thread.currentThread().getName());
            }
            int all = running.incrementAndGet();
            if (all > mostRunning.get()) {
                mostRunning.accumulateAndGet(all, Math::max);
            }
            started.increment();
            waitedNanos.add(now - atNanos);
            if (!isOfCall) {
                othersStarted.increment();
                othersRunning.incrementAndGet();
            }
            return now;
        }

        void end(long begun) {
            long ran = System.nanoTime() - begun;
            running.decrementAndGet();
            ranNanos.add(ran);
            if (!isOfCall) {
                othersRunning.decrementAndGet();
                othersRanNanos.add(ran);
            }
        }
    }

    /** Returns the name of a numbered thread without its number; null if the name does not end with a number. */
    private static @Nullable String prefixOf(String name) {
        int end = name.length();
        while (end > 0 && Character.isDigit(name.charAt(end - 1))) {
            end--;
        }
        return end == 0 || end == name.length() ? null : name.substring(0, end);
    }

    /**
     * Records which code submits tasks outside of calls. Reads at most one stack per second, because reading a stack
     * takes a long time.
     */
    private void noteSubmitter(long now) {
        Submitter known = lastSubmitter;
        if (known == null || now - known.atNanos >= PAUSE_NANOS) {
            StackTraceElement place = ApplicationCode.first(new Throwable().getStackTrace());
            lastSubmitter = new Submitter(
                    now,
                    place == null
                            ? null
                            : ApplicationCode.shown(place) + " (thread "
                                    + Thread.currentThread().getName() + ")");
        }
    }

    /**
     * Counts a failed task. Reads the stack of at most one exception per second, because reading a stack takes a long
     * time.
     */
    private void failed(Throwable failure, long now) {
        failed.increment();
        Failure known = lastFailure;
        if (known == null || now - known.atNanos >= PAUSE_NANOS) {
            StackTraceElement place = ApplicationCode.first(failure.getStackTrace());
            lastFailure = new Failure(
                    now,
                    failure.getClass().getSimpleName() + (place == null ? "" : " in " + ApplicationCode.shown(place)));
        }
    }

    int running() {
        return running.get();
    }

    /** Returns the largest number of tasks that ran at the same time. */
    int mostRunning() {
        return mostRunning.get();
    }

    /**
     * Returns the number of tasks waiting for a thread. Executors start tasks in the order of submission, so the
     * waiting tasks are those submitted after the task that started last. A canceled or rejected task is counted only
     * until a later task starts, or until no task runs.
     */
    int waiting() {
        return running.get() == 0 ? 0 : (int) Math.max(0, submitted.get() - newestStarted.get());
    }

    PoolSnapshot.Builder into(PoolSnapshot.Builder snapshot) {
        Failure known = lastFailure;
        Submitter submitter = lastSubmitter;
        return snapshot.others(new PoolSnapshot.OtherTasks(
                        othersStarted.sum(),
                        Duration.ofNanos(othersRanNanos.sum()),
                        othersRunning.get(),
                        submitter == null ? null : submitter.text))
                .inner(threadPrefix == null ? -1 : inner.sum())
                .thread(thread)
                .counts(started.sum(), rejected.sum())
                .failures(failed.sum(), known == null ? null : known.text)
                .sums(Duration.ofNanos(waitedNanos.sum()), Duration.ofNanos(ranNanos.sum()));
    }
}
