package tern.rpc.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a pool with tasks waiting for other tasks of the same pool. The test decides when the pool is checked. */
@Timeout(30)
class GrowingWorkerPoolTest {

    private static final int THREADS = 2;

    private final Queue<Runnable> checks = new ArrayDeque<>();
    private final List<Runnable> givenUp = new CopyOnWriteArrayList<>();
    private final CountDownLatch free = new CountDownLatch(1);
    private final AtomicInteger begun = new AtomicInteger(); // the number of blocking tasks that have a thread
    private final WorkerPool pool = WorkerPool.growing(
            THREADS,
            100,
            Duration.ofMinutes(1),
            task -> {
                Thread thread = new Thread(task, "growing");
                thread.setDaemon(true);
                return thread;
            },
            givenUp::add,
            checks::add);

    @AfterEach
    void close() {
        free.countDown();
        pool.close();
    }

    /** Adds tasks that block, and waits until the given number of these tasks have a thread. */
    private void block(int tasks, int running) {
        for (int i = 0; i < tasks; i++) {
            pool.executeAdmitted(() -> {
                begun.incrementAndGet();
                await(free);
            });
        }
        awaitBegun(running);
    }

    /**
     * Waits until the given number of tasks have begun. The queue is not checked, because a task leaves the queue
     * before the pool records that the task has begun.
     */
    private void awaitBegun(int tasks) {
        awaitThat(() -> begun.get() == tasks);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void check(int times) {
        for (int i = 0; i < times; i++) {
            checks.remove().run();
        }
    }

    private static void awaitThat(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.yield(); // if this condition never becomes true, the test class's timeout ends the wait
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
    }

    @Test
    void taskThatTheBlockedThreadsWaitForGetsAFurtherThread() throws InterruptedException {
        block(THREADS, THREADS);
        assertThat(checks).isEmpty(); // the pool is not checked while no task is waiting

        pool.executeAdmitted(free::countDown);
        check(2); // the first check cannot know for how long the threads have been blocked

        assertThat(free.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void poolThatMovesDoesNotGrow() {
        CountDownLatch first = new CountDownLatch(1);
        pool.executeAdmitted(() -> await(first));
        block(3, 1);
        check(1);
        first.countDown(); // the next task begins, so the pool makes progress
        awaitBegun(2);

        check(1);

        assertThat(pool.threads()).isEqualTo(THREADS);
        assertThat(pool.queued()).isEqualTo(1);
    }

    @Test
    void additionalThreadsEndWhenNoTaskWaits() {
        block(THREADS + 1, THREADS);
        check(2);
        awaitBegun(THREADS + 1);
        check(1);
        assertThat(checks).hasSize(1);

        free.countDown();

        awaitThat(() -> pool.active() == 0 && pool.threads() == THREADS);
        check(60); // for a minute, the pool keeps the permission to grow
        assertThat(checks).hasSize(1);
        check(1);
        assertThat(checks).isEmpty();
    }

    @Test
    void tasksThatWaitTooLongAreGivenUpAndRunLater() {
        block(2 * THREADS + 2, THREADS);
        check(2);
        awaitBegun(2 * THREADS);
        assertThat(pool.threads()).isEqualTo(2 * THREADS);

        check(11); // a task has begun since the last check, so only ten of these checks find no progress
        assertThat(givenUp).isEmpty();
        check(2);

        assertThat(givenUp).hasSize(2).doesNotHaveDuplicates();
        free.countDown();
        awaitThat(() -> pool.admitted() == 0);
    }
}
