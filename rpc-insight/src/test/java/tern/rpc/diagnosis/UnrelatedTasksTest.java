package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import shop.Brochures;
import shop.Packages;
import shop.PriceBook;
import tern.rpc.diagnosis.stack.TaskWaits;

/** Tests busy tasks and threads that are unrelated to the wait of calls, although they run similar code. */
class UnrelatedTasksTest {

    private final Shop shop = new Shop().healthy(call -> call.own(2));
    private final CompletableFuture<String> end = new CompletableFuture<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final FutureTask<String> task = new FutureTask<>(() -> "");
    private final WaitingCalls calls = new WaitingCalls(shop);
    private volatile Thread printer;
    private final ExecutorService printers = Executors.newSingleThreadExecutor(runnable -> {
        printer = new Thread(runnable, "printers-1");
        return printer;
    });

    @AfterEach
    void endThreads() throws InterruptedException {
        end.complete("");
        ended.countDown();
        task.run();
        printers.shutdown();
        calls.join();
    }

    /** Submits a task that waits for the end of the test, and returns when the task waits. */
    private void print() {
        printers.execute(() -> Brochures.Printer.print(end));
        while (printer == null || printer.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }

    private String firstCause(Runnable wait) throws Exception {
        return DiagnosisText.title(calls.firstCause(wait, call -> call.own(2)));
    }

    @Test
    void busyTaskOfTheSamePackageDoesNotCompleteAnyResult() throws Exception {
        print();

        assertThat(firstCause(() -> Packages.of(end))).isEqualTo("WAITS FOR A RESULT: Packages.of");
    }

    @Test
    void busyTaskOfTheSamePackageIsTheTaskForWhichCallsWait() throws Exception {
        print();

        assertThat(firstCause(() -> Brochures.of(task))).isEqualTo("SLOW HTTP PEER: called in Brochures.Printer.print");
    }

    @ParameterizedTest
    @ValueSource(strings = {"FutureTask.get", "AbstractExecutorService.invokeAll", "ForkJoinTask.join"})
    void waitsForTasksAreRecognized(String called) {
        assertThat(TaskWaits.isForTask(called)).isTrue();
        assertThat(TaskWaits.isForProgram(called)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"CountDownLatch.await", "Object.wait", "CompletableFuture.get", "LocalCache.get"})
    void waitsForOtherThingsShowNoExecutor(String called) {
        assertThat(TaskWaits.isForTask(called)).isFalse();
    }

    @Test
    void noTaskCompletesAWaitForAnotherProgram() {
        assertThat(TaskWaits.isForProgram("ProcessImpl.waitFor")).isTrue();
        assertThat(TaskWaits.isForTask("ProcessImpl.waitFor")).isFalse();
    }

    @Test
    void threadThatSleepsBetweenItsWorkIsNotTheLikelyHolderOfALock() throws Exception {
        PriceBook prices = new PriceBook();
        CountDownLatch held = new CountDownLatch(1);
        Thread holder = new Thread(() -> prices.reload(held, ended), "reload-1");
        Thread[] idle = new Thread[3];
        for (int i = 0; i < idle.length; i++) {
            idle[i] = new Thread(() -> prices.pauseUntil(ended), "refresh-" + i);
            idle[i].start();
        }
        holder.start();
        held.await();
        try {
            assertThat(firstCause(prices::price)).isEqualTo("LOCK: StampedLock wanted in PriceBook.price");
            assertThat(shop.diagnosis().causes().get(0).change().text())
                    .contains("hold the lock for less time in PriceBook.reload:")
                    .contains("threads reload* run");
        } finally {
            ended.countDown();
            holder.join();
            for (Thread thread : idle) {
                thread.interrupt();
                thread.join();
            }
        }
    }
}
