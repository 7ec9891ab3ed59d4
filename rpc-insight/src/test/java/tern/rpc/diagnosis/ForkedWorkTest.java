package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import depot.Batch;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Packages;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests calls that run the items of their parallel streams themselves while the threads of the common pool are busy. */
class ForkedWorkTest {

    private static final int THREADS = 2;

    private final Shop shop = new Shop().healthy(call -> call.own(2));
    private final CompletableFuture<String> end = new CompletableFuture<>();
    private final WaitingCalls calls = new WaitingCalls(shop);
    private final AtomicInteger named = new AtomicInteger();
    private final ForkJoinPool common = new ForkJoinPool(THREADS, this::thread, null, false);

    private ForkJoinWorkerThread thread(ForkJoinPool pool) {
        ForkJoinWorkerThread thread = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
        thread.setName("ForkJoinPool.commonPool-worker-" + named.incrementAndGet());
        return thread;
    }

    @AfterEach
    void endThreads() throws InterruptedException {
        end.complete("");
        common.shutdown();
        calls.join();
    }

    /**
     * Runs the tasks on all threads of the common pool. Then starts calls that run an item of a parallel stream on
     * their own threads. Each item waits for a peer. Returns the first cause of the diagnosis.
     */
    private Cause firstCause(Runnable tasks) throws Exception {
        shop.pools.add(() -> PoolSnapshot.builder(ExecutorNames.COMMON_POOL, PoolKind.EXECUTOR, THREADS)
                .now(THREADS, 0, 5)
                .settings(List.of())
                .build());
        for (int i = 0; i < THREADS; i++) {
            common.execute(tasks);
        }
        return calls.firstCause(
                () -> ForkJoinTask.adapt(() -> Packages.extra(end)).invoke(), call -> call.own(2));
    }

    @Test
    void tasksOfOtherCodeThatBlockTheCommonPoolAreTheCause() throws Exception {
        Cause first = firstCause(() -> Batch.ask(end));

        assertThat(first.name()).as(shop.diagnosis().text()).isEqualTo(ExecutorNames.COMMON_POOL);
        assertThat(first.change().text())
                .contains("mostly waiting for a peer in Batch.ask")
                .contains("an executor of their own");
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.contains("items of a parallel stream"));
    }

    @Test
    void peerOfTheItemsIsTheCauseIfTheCommonPoolWaitsForItToo() throws Exception {
        Cause first = firstCause(() -> Packages.extra(end));

        assertThat(DiagnosisText.title(first))
                .as(shop.diagnosis().text())
                .isEqualTo("SLOW HTTP PEER: called in Packages.extra");
    }

    @Test
    void threadOfAPoolDoesNotRunItemsOfACall() {
        StackTraceElement[] stack = {
            new StackTraceElement("shop.Packages", "extra", "Packages.java", 1),
            new StackTraceElement("java.util.concurrent.ForkJoinTask", "doExec", "ForkJoinTask.java", 1),
            new StackTraceElement("java.util.concurrent.ForkJoinWorkerThread", "run", "ForkJoinWorkerThread.java", 1)
        };

        ThreadLook thread = new ThreadLook("w-1", 1, Thread.State.WAITING, stack, null, null, -1, -1);

        assertThat(thread.runsForkedTask()).isFalse();
    }
}
