package tern.rpc.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WorkerPoolTest {

    private static final Duration KEEP = Duration.ofSeconds(60);

    private final CountDownLatch letGo = new CountDownLatch(1);
    private final BlockingQueue<String> started = new LinkedBlockingQueue<>();
    private final List<Thread> threads = new ArrayList<>();
    private final ThreadFactory factory = task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        synchronized (threads) {
            threads.add(thread);
        }
        return thread;
    };

    @AfterEach
    void release() {
        letGo.countDown();
    }

    private Runnable blocking(String name) {
        return () -> {
            started.add(name);
            await(letGo);
        };
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitStarted(int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            assertThat(started.poll(30, TimeUnit.SECONDS)).isNotNull();
        }
    }

    /** Collects new threads. The test starts them later, as if the processors were busy. */
    private static final class LateThreads implements ThreadFactory {

        private final BlockingQueue<Runnable> created = new LinkedBlockingQueue<>();

        @Override
        public Thread newThread(Runnable task) {
            created.add(task);
            return new Thread(() -> {}); // a placeholder; the test starts the real thread later
        }

        void startOne() throws InterruptedException {
            Runnable task = created.poll(30, TimeUnit.SECONDS);
            assertThat(task).isNotNull();
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            thread.start();
        }
    }

    @Test
    void newThreadStartsTwoOthersWhileManyTasksHaveNoThread() throws Exception {
        LateThreads late = new LateThreads();
        try (WorkerPool pool = new WorkerPool(20, 0, KEEP, late)) {
            for (int i = 0; i < 20; i++) {
                assertThat(pool.offer(blocking("task"))).isTrue();
            }
            assertThat(late.created).hasSize(1);

            late.startOne();
            awaitStarted(1);

            assertThat(late.created).hasSize(2);
            for (int i = 1; i < 20; i++) {
                late.startOne();
            }
            awaitStarted(19);
            letGo.countDown();
        }
    }

    @Test
    void newThreadStartsOneOtherWhileFewTasksHaveNoThread() throws Exception {
        LateThreads late = new LateThreads();
        try (WorkerPool pool = new WorkerPool(20, 0, KEEP, late)) {
            for (int i = 0; i < 8; i++) {
                assertThat(pool.offer(blocking("task"))).isTrue();
            }

            late.startOne();
            awaitStarted(1);

            assertThat(late.created).hasSize(1);
            letGo.countDown();
        }
    }

    @Test
    void tasksRunAtOnceUpToTheNumberOfThreads() throws Exception {
        try (WorkerPool pool = new WorkerPool(8, 0, KEEP, factory)) {
            for (int i = 0; i < 8; i++) {
                assertThat(pool.offer(blocking("task"))).isTrue();
            }

            awaitStarted(8);

            assertThat(pool.active()).isEqualTo(8);
            assertThat(pool.threads()).isEqualTo(8);
        }
    }

    @Test
    void offerIsRefusedWhenThreadsAndQueueAreFull() throws Exception {
        try (WorkerPool pool = new WorkerPool(2, 3, KEEP, factory)) {
            for (int i = 0; i < 5; i++) {
                assertThat(pool.offer(blocking("task"))).isTrue();
            }
            awaitStarted(2);

            assertThat(pool.offer(() -> {})).isFalse();
            assertThat(pool.queued()).isEqualTo(3);
            assertThatThrownBy(() -> pool.execute(() -> {}))
                    .isInstanceOf(RejectedExecutionException.class)
                    .hasMessageContaining("5 tasks");
        }
    }

    @Test
    void queuedTasksRunInOrder() throws Exception {
        try (WorkerPool pool = new WorkerPool(1, 100, KEEP, factory)) {
            pool.execute(blocking("first"));
            awaitStarted(1);
            List<Integer> order = new ArrayList<>();
            CountDownLatch done = new CountDownLatch(1);
            for (int i = 0; i < 50; i++) {
                int number = i;
                pool.execute(() -> order.add(number));
            }
            pool.execute(done::countDown);

            letGo.countDown();

            await(done);
            assertThat(order).hasSize(50).isSorted();
        }
    }

    @Test
    void failingTaskDoesNotCostAThread() throws Exception {
        try (WorkerPool pool = new WorkerPool(1, 10, KEEP, factory)) {
            CountDownLatch done = new CountDownLatch(1);

            pool.execute(() -> {
                throw new IllegalStateException("on purpose");
            });
            pool.execute(done::countDown);

            await(done);
            assertThat(pool.threads()).isEqualTo(1);
        }
    }

    @Test
    void oneCallerAtATimeKeepsToFewThreads() throws Exception {
        try (WorkerPool pool = new WorkerPool(100, 100, KEEP, factory)) {
            for (int i = 0; i < 1_000; i++) {
                CountDownLatch done = new CountDownLatch(1);
                pool.execute(done::countDown);
                await(done);
            }

            // The pool may have more than one thread. While the only worker is about to become idle, the pool does not
            // find it and starts another thread.
            assertThat(pool.threads()).isLessThanOrEqualTo(20);
        }
    }

    @Test
    void idleThreadsEndAfterTheirKeepAlive() throws Exception {
        try (WorkerPool pool = new WorkerPool(4, 0, Duration.ofMillis(1), factory)) {
            pool.execute(blocking("task"));
            awaitStarted(1);

            letGo.countDown();

            threads.get(0).join(30_000);
            assertThat(threads.get(0).isAlive()).isFalse();
            CountDownLatch again = new CountDownLatch(1);
            pool.execute(again::countDown);
            await(again);
        }
    }

    @Test
    void withoutKeepAliveEveryThreadEndsWithItsWork() throws Exception {
        try (WorkerPool pool = new WorkerPool(3, 100, Duration.ZERO, factory)) {
            CountDownLatch done = new CountDownLatch(50);
            for (int i = 0; i < 50; i++) {
                pool.execute(done::countDown);
            }

            await(done);

            for (Thread thread : List.copyOf(threads)) {
                thread.join(30_000);
                assertThat(thread.isAlive()).isFalse();
            }
        }
    }

    @Test
    void closedPoolRunsQueuedTasksAndAcceptsNoMore() throws Exception {
        WorkerPool pool = new WorkerPool(1, 10, KEEP, factory);
        pool.execute(blocking("first"));
        awaitStarted(1);
        CountDownLatch queued = new CountDownLatch(1);
        pool.execute(queued::countDown);

        pool.close();
        letGo.countDown();

        await(queued);
        assertThat(pool.offer(() -> {})).isFalse();
        threads.get(0).join(30_000);
        assertThat(threads.get(0).isAlive()).isFalse();
    }

    /**
     * Searches for races in which no worker is woken for a task. The test uses short tasks, idle periods and many
     * concurrent producers.
     */
    @Test
    void noTaskIsForgottenOrRunTwiceUnderRaces() throws Exception {
        int producers = 4;
        int rounds = 20_000;
        try (WorkerPool pool = new WorkerPool(8, Integer.MAX_VALUE, KEEP, factory)) {
            Set<Long> ran = ConcurrentHashMap.newKeySet();
            AtomicInteger twice = new AtomicInteger();
            CountDownLatch done = new CountDownLatch(producers * rounds);
            CyclicBarrier start = new CyclicBarrier(producers);
            for (int p = 0; p < producers; p++) {
                long base = (long) p << 32;
                Thread producer = new Thread(() -> {
                    try {
                        start.await();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                    for (int i = 0; i < rounds; i++) {
                        long id = base + i;
                        pool.execute(() -> {
                            if (!ran.add(id)) {
                                twice.incrementAndGet();
                            }
                            done.countDown();
                        });
                        if (i % 64 == 0) {
                            Thread.yield(); // The pause lets workers become idle between two bursts of tasks.
                        }
                    }
                });
                producer.setDaemon(true);
                producer.start();
            }

            await(done);

            assertThat(twice).hasValue(0);
            assertThat(ran).hasSize(producers * rounds);
        }
    }

    /** The only thread repeatedly ends at the moment when the next task arrives. */
    @Test
    void noTaskIsLostWhenTheOnlyThreadEnds() throws Exception {
        try (WorkerPool pool = new WorkerPool(1, 4, Duration.ofNanos(1), factory)) {
            for (int i = 0; i < 20_000; i++) {
                CountDownLatch done = new CountDownLatch(1);
                pool.execute(done::countDown);
                await(done);
            }
        }
    }

    /**
     * Tasks are submitted only after all earlier tasks have run. Otherwise, the wake-up for a later task would also run
     * a task whose own wake-up was lost, and the test would not notice the loss.
     */
    @Test
    void noWakeUpIsLostWhenWorkersGoIdleAllTheTime() throws Exception {
        try (WorkerPool pool = new WorkerPool(4, 4, Duration.ofNanos(1), factory)) {
            for (int i = 0; i < 5_000; i++) {
                CountDownLatch both = new CountDownLatch(2);
                pool.execute(both::countDown);
                pool.execute(both::countDown);
                await(both);
            }
        }
    }

    @Test
    void tasksOfAdmittedCallsAreTakenWhenThePoolIsFullAndWhenItIsClosed() throws Exception {
        WorkerPool pool = new WorkerPool(1, 0, KEEP, factory);
        assertThat(pool.offer(blocking("task"))).isTrue();
        awaitStarted(1);
        CountDownLatch ran = new CountDownLatch(2);

        pool.executeAdmitted(ran::countDown);
        assertThat(pool.queued()).isEqualTo(1);
        assertThat(pool.offer(() -> {})).isFalse();
        pool.close();
        letGo.countDown();
        pool.executeAdmitted(ran::countDown);

        await(ran);
    }

    @Test
    void tasksOfAdmittedCallsTakeTheirPlaceOnlyWhileTheyLast() throws Exception {
        try (WorkerPool pool = new WorkerPool(1, 0, KEEP, factory)) {
            for (int i = 0; i < 100; i++) {
                CountDownLatch ran = new CountDownLatch(1);
                pool.executeAdmitted(ran::countDown);
                await(ran);
            }
            CountDownLatch offered = new CountDownLatch(1);
            while (!pool.offer(offered::countDown)) {
                Thread.yield(); // The worker is not idle yet, so this thread yields until it is.
            }

            await(offered);
        }
    }
}
