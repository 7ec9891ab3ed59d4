package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import depot.Batch;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Packages;
import tern.rpc.Phase;
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

    private static ThreadLook look(String name, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        return new ThreadLook(name, 9, Thread.State.WAITING, stack, null, null, -1, -1);
    }

    private static void look(Sampler.Samples samples, ThreadLook caller) {
        samples.add(SampledCalls.sample(Phase.HTTP, caller));
        samples.addStack(Phase.HTTP, caller);
    }

    /** Returns the first cause if late calls wait for HTTP exchanges in this method of a client. */
    private static String titleOfExchanges(String client) {
        TaskWatch tasks = new TaskWatch();
        for (int i = 0; i < 6; i++) {
            tasks.add(look(
                    "ForkJoinPool.commonPool-worker-1",
                    "java.net.SocketInputStream/read",
                    "depot.Wards/free",
                    "java.util.concurrent.ForkJoinTask/doExec",
                    "java.util.concurrent.ForkJoinWorkerThread/run"));
        }
        ThreadLook caller =
                look("rpc-worker-1", "java.util.concurrent.CompletableFuture/get", client, "depot.Tracking/track");
        List<Cause> causes = new SampledCalls()
                .tasks(tasks)
                .pool(PoolSnapshot.builder(ExecutorNames.COMMON_POOL, PoolKind.EXECUTOR, 1)
                        .now(1, 0, 5)
                        .settings(List.of())
                        .build())
                .usually("Desk.admit", Phase.HTTP, "GET stock:80", 5)
                .calls("Desk.admit", Phase.HTTP, 250, samples -> look(samples, caller))
                .waiting("Desk.admit", "GET bank:80", 200, 0, samples -> look(samples, caller))
                .causes();
        return DiagnosisText.title(causes.get(0));
    }

    @Test
    void blockedCommonPoolDelaysAnswersOfTheJdksHttpClientInSpring() {
        assumeTrue(ForkedWork.futuresUseCommonPool());

        assertThat(titleOfExchanges("org.springframework.http.client.JdkClientHttpRequest/executeInternal"))
                .endsWith(": " + ExecutorNames.COMMON_POOL);
    }

    @Test
    void blockedCommonPoolDoesNotDelayOtherClients() {
        assertThat(titleOfExchanges("jdk.internal.net.http.HttpClientImpl/send"))
                .isEqualTo("SLOW NETWORK: every HTTP peer");
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
