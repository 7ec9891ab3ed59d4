package tern.rpc.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SerialExecutorTest {

    private final Deque<Runnable> handedOver = new ArrayDeque<>();
    private final List<String> ran = new ArrayList<>();
    private final SerialExecutor serial = new SerialExecutor(handedOver::add);

    private void runHandedOver() {
        Runnable task;
        while ((task = handedOver.poll()) != null) {
            task.run();
        }
    }

    @Test
    void tasksOfManyThreadsRunOneAtATimeAndInTheOrderOfEach() throws Exception {
        int threads = 8;
        int tasks = 5_000;
        ExecutorService pool = Executors.newFixedThreadPool(4);
        ExecutorService producers = Executors.newFixedThreadPool(threads);
        SerialExecutor tested = new SerialExecutor(pool);
        int[] last = new int[threads];
        AtomicInteger running = new AtomicInteger();
        AtomicInteger faults = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(threads * tasks);
        List<Future<?>> producing = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int thread = i;
            producing.add(producers.submit(() -> {
                for (int j = 1; j <= tasks; j++) {
                    int number = j;
                    tested.execute(() -> {
                        if (running.incrementAndGet() != 1 || last[thread] != number - 1) {
                            faults.incrementAndGet();
                        }
                        last[thread] = number;
                        running.decrementAndGet();
                        all.countDown();
                    });
                }
            }));
        }

        for (Future<?> producer : producing) {
            producer.get(30, TimeUnit.SECONDS);
        }
        assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(faults).hasValue(0);
        producers.shutdown();
        pool.shutdown();
    }

    @Test
    void consecutiveTasksNeedOneHandOver() {
        serial.execute(() -> ran.add("one"));
        serial.execute(() -> ran.add("two"));

        assertThat(handedOver).hasSize(1);
        runHandedOver();
        assertThat(ran).containsExactly("one", "two");
    }

    @Test
    void othersGetTheThreadAfterManyTasks() {
        for (int i = 0; i < 100; i++) {
            serial.execute(() -> ran.add("task"));
        }

        handedOver.remove().run();

        assertThat(ran).hasSize(32);
        assertThat(handedOver).hasSize(1);
        runHandedOver();
        assertThat(ran).hasSize(100);
    }

    @Test
    void failedTaskDoesNotStopTheOthers() {
        serial.execute(() -> {
            throw new AssertionError("on purpose");
        });
        serial.execute(() -> ran.add("next"));

        runHandedOver();

        assertThat(ran).containsExactly("next");
    }

    @Test
    void tasksRunOnTheCallersThreadWhenTheExecutorRefuses() {
        SerialExecutor refused = new SerialExecutor(task -> {
            throw new RejectedExecutionException("closed");
        });

        refused.execute(() -> ran.add("one"));
        refused.execute(() -> ran.add("two"));

        assertThat(ran).containsExactly("one", "two");
    }

    @Test
    void anyNumberOfTasksRunsWhenTheExecutorRefuses() {
        SerialExecutor refused = new SerialExecutor(task -> {
            throw new RejectedExecutionException("closed");
        });
        AtomicInteger done = new AtomicInteger();

        refused.execute(() -> {
            for (int i = 0; i < 2_000_000; i++) {
                refused.execute(done::incrementAndGet);
            }
        });

        assertThat(done).hasValue(2_000_000);
    }

    @Test
    void tasksRunOnTheCallersThreadWhenTheExecutorFails() {
        SerialExecutor failing = new SerialExecutor(task -> {
            throw new InternalError("unable to create native thread");
        });

        failing.execute(() -> ran.add("one"));
        failing.execute(() -> ran.add("two"));

        assertThat(ran).containsExactly("one", "two");
    }

    @Test
    void tasksRunOnceWhenTheExecutorQueuesThemAndFails() {
        SerialExecutor failing = new SerialExecutor(task -> {
            handedOver.add(task);
            throw new InternalError("unable to create native thread");
        });

        failing.execute(() -> ran.add("one"));
        failing.execute(() -> ran.add("two"));
        runHandedOver();

        assertThat(ran).containsExactly("one", "two");
    }

    @Test
    void taskRunsOnTheCallingThreadIfNoOtherTaskRuns() {
        serial.executeHere(() -> {
            ran.add("here");
            serial.execute(() -> ran.add("after it"));
            assertThat(ran).containsExactly("here");
        });
        assertThat(ran).containsExactly("here", "after it");
        assertThat(handedOver).isEmpty();

        serial.execute(() -> ran.add("before"));
        serial.executeHere(() -> ran.add("waits"));

        assertThat(ran).doesNotContain("waits");
        runHandedOver();
        assertThat(ran).endsWith("before", "waits");
    }

    @Test
    void onlyTheThreadOfTheTaskIsTheOneThatRunsIt() throws Exception {
        List<Boolean> seen = new ArrayList<>();
        seen.add(serial.isRunningHere());
        serial.executeHere(() -> {
            seen.add(serial.isRunningHere());
            Thread other = new Thread(() -> seen.add(serial.isRunningHere()));
            other.start();
            try {
                other.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        seen.add(serial.isRunningHere());

        assertThat(seen).containsExactly(false, true, false, false);
    }
}
