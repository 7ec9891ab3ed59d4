package tern.rpc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Locks, monitors and pools of the JDK in classes of an application's package. */
@Timeout(60)
class CodeThatWaitsTest {

    @Test
    void monitorIsNamedWithTheMethodThatWantsIt() {
        shop.Shelf shelf = new shop.Shelf();

        synchronized (shelf) {
            try (Blocked blocked = new Blocked(shelf::take)) {
                assertThat(blocked.wait(false).resource()).isEqualTo("monitor of Shelf in shop.Shelf.take");
            }
        }
    }

    @Test
    void lockIsNamedWithTheMethodThatWantsIt() {
        shop.Shelf shelf = new shop.Shelf();

        ReentrantLock held = shelf.lock();
        held.lock();
        try (Blocked blocked = new Blocked(shelf::takeLocked)) {
            assertThat(blocked.wait(false).resource()).isEqualTo("lock ReentrantLock in shop.Shelf.takeLocked");
        } finally {
            held.unlock();
        }
    }

    @Test
    void awaitedResultCountsWhileACallIsServed() {
        try (Blocked blocked = new Blocked(() -> new shop.Shelf().await(new CompletableFuture<>()))) {
            assertThat(blocked.wait(true).resource()).isEqualTo("signal or result awaited in shop.Shelf.await");
        }
    }

    @Test
    void awaitedResultOfABackgroundThreadIsItsWayOfLife() {
        try (Blocked blocked = new Blocked(() -> new shop.Shelf().await(new CompletableFuture<>()))) {
            ThreadStack stack = blocked.when(ThreadStack::isWaiting);

            assertThat(Blocked.classify(stack)).isNull();
        }
    }

    @Test
    void sleepIsNamedWhileACallIsServed() {
        try (Blocked blocked = new Blocked(() -> new shop.Shelf().rest())) {
            assertThat(blocked.wait(true).resource()).isEqualTo("sleep in shop.Shelf.rest");
        }
    }

    @Test
    void busyThreadWaitsForNothing() {
        try (Blocked blocked = new Blocked(() -> new shop.Shelf().count())) {
            ThreadStack stack = blocked.servingWhen(seen -> seen.isIn("shop.Shelf", "count"));

            assertThat(stack.isWaiting()).isFalse();
            assertThat(Blocked.classify(stack)).isNull();
        }
    }

    @Test
    void taskOfAFullPoolIsNamedInItsCaller() {
        CountDownLatch released = new CountDownLatch(1);
        ThreadPoolExecutor full = new ThreadPoolExecutor(
                1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1), new ThreadPoolExecutor.CallerRunsPolicy());
        Runnable waits = () -> {
            try {
                released.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        full.execute(waits);
        full.execute(waits);

        try (Blocked blocked = new Blocked(() -> {
            full.execute(waits);
            return null;
        })) {
            assertThat(blocked.waitsFor("caller-runs: task of a full pool").change())
                    .startsWith("rpc.pools.executors.*.threads");
        } finally {
            released.countDown();
            full.shutdownNow();
        }
    }

    @Test
    void threadsOfPoolsThatHaveNothingToDoAreIdle() {
        ScheduledExecutorService timer =
                Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "timer-1"));
        ThreadPoolExecutor pool =
                (ThreadPoolExecutor) Executors.newFixedThreadPool(1, task -> new Thread(task, "pool-1"));
        timer.submit(() -> {}).isDone();
        pool.submit(() -> {}).isDone();

        assertThat(Blocked.classifyThread("timer-1")).isEqualTo(Wait.IDLE);
        assertThat(Blocked.classifyThread("pool-1")).isEqualTo(Wait.IDLE);
        timer.shutdownNow();
        pool.shutdownNow();
    }
}
