package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import depot.Batch;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import shop.Packages;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.WaitingCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.sample.CommonPool;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Tests calls that run the items of their parallel streams themselves while the threads of the common pool are busy.
 */
class ForkedWorkTest {

    private static final int THREADS = 2;
    private static final String SPRINGS_CLIENT = "org.springframework.http.client.JdkClientHttpRequest/executeInternal";

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
     * their own threads. Each item waits for a peer. Returns the cause that the diagnosis names first.
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
                .startsWith("use a separate executor for the tasks that wait")
                .contains("mostly waiting for a peer in Batch.ask")
                .contains("its few threads are meant for tasks that compute");
        assertThat(first.kind()).isEqualTo("COMMON POOL BUSY");
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.contains("items of a parallel stream"));
    }

    @Test
    void peerOfTheItemsIsTheCauseIfTheCommonPoolWaitsForItToo() throws Exception {
        Cause first = firstCause(() -> Packages.extra(end));

        assertThat(DiagnosisText.title(first))
                .as(shop.diagnosis().text())
                .isEqualTo("SLOW HTTP PEER: called in Packages.extra");
    }

    private static void addTasks(TaskWatch tasks, int number, String code) {
        for (int i = 0; i < number; i++) {
            tasks.add(look(
                    "ForkJoinPool.commonPool-worker-1",
                    "java.net.SocketInputStream/read",
                    code,
                    "java.util.concurrent.ForkJoinTask/doExec",
                    "java.util.concurrent.ForkJoinWorkerThread/run"));
        }
    }

    @Test
    void tasksOfOtherCodeAreTheCauseEvenIfThePoolAlsoRunsSomeItemsOfTheCalls() {
        TaskWatch tasks = new TaskWatch();
        addTasks(tasks, 6, "depot.Mailing/send");
        addTasks(tasks, 2, "depot.Wards/free");
        tasks.moments().add(0, true);
        ThreadSnapshot caller = look(
                "exec-1",
                "java.net.SocketInputStream/read",
                "depot.Wards/free",
                "java.util.concurrent.ForkJoinTask/doExec",
                "java.util.concurrent.ForkJoinTask/invoke",
                "depot.Wards/overview");

        List<Cause> causes = new SampledCalls()
                .tasks(tasks)
                .pool(idlePool())
                .calls("Desk.overview", Phase.OWN, 300, samples -> {
                    samples.add(SampledCalls.sample(Phase.OWN, caller));
                    samples.addStack(Phase.OWN, caller, true);
                })
                .causes();

        assertThat(causes).extracting(DiagnosisText::title).first().isEqualTo("COMMON POOL BUSY: common-pool");
    }

    @Test
    void callersThatSearchForItemsOfTheirStreamsWaitForTheFullPool() {
        TaskWatch tasks = blockedTasks();
        tasks.moments().add(0, true);
        ThreadSnapshot waiting = look(
                "exec-1",
                "java.util.concurrent.ForkJoinPool$WorkQueue/helpComplete",
                "java.util.concurrent.ForkJoinPool/helpComplete",
                "java.util.concurrent.ForkJoinTask/awaitDone",
                "java.util.concurrent.ForkJoinTask/invoke",
                "java.util.stream.IntPipeline/sum",
                "depot.Wards/overview");
        ThreadSnapshot searching =
                new ThreadSnapshot("exec-1", 9, Thread.State.RUNNABLE, waiting.frames(), null, null, -1, -1);

        List<Cause> causes = new SampledCalls()
                .tasks(tasks)
                .pool(idlePool())
                .calls(
                        "Desk.overview",
                        Phase.OWN,
                        300,
                        samples -> samples.add(SampledCalls.sample(Phase.OWN, searching)))
                .causes();

        assertThat(causes).extracting(DiagnosisText::title).containsExactly("COMMON POOL BUSY: common-pool");
    }

    private static ThreadSnapshot look(String name, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot(name, 9, Thread.State.WAITING, stack, null, null, -1, -1);
    }

    private static void look(SampledCall samples, ThreadSnapshot caller, boolean isFull) {
        samples.add(SampledCalls.sample(Phase.HTTP, caller));
        samples.addStack(Phase.HTTP, caller, isFull);
    }

    /** Returns samples of the common pool's thread, whose task waits for a peer. */
    private static TaskWatch blockedTasks() {
        TaskWatch tasks = new TaskWatch();
        for (int i = 0; i < 6; i++) {
            tasks.add(look(
                    "ForkJoinPool.commonPool-worker-1",
                    "java.net.SocketInputStream/read",
                    "depot.Wards/free",
                    "java.util.concurrent.ForkJoinTask/doExec",
                    "java.util.concurrent.ForkJoinWorkerThread/run"));
        }
        return tasks;
    }

    /** Returns the state of a common pool that is idle, by chance, at the end of the observed period. */
    private static PoolSnapshot idlePool() {
        return PoolSnapshot.builder(ExecutorNames.COMMON_POOL, PoolKind.EXECUTOR, 1)
                .now(0, 1, 0)
                .settings(List.of())
                .build();
    }

    /**
     * Simulates late calls that wait for HTTP exchanges in the given method of a client. Returns the cause that the
     * diagnosis names first.
     *
     * @param isFull whether the common pool is full during the exchanges
     */
    private static String titleOfExchanges(String client, boolean isFull) {
        ThreadSnapshot caller =
                look("rpc-worker-1", "java.util.concurrent.CompletableFuture/get", client, "depot.Tracking/track");
        List<Cause> causes = new SampledCalls()
                .tasks(blockedTasks())
                .pool(idlePool())
                .usually("Desk.admit", Phase.HTTP, "GET stock:80", 5)
                .calls("Desk.admit", Phase.HTTP, 250, samples -> look(samples, caller, isFull))
                .waiting("Desk.admit", "GET bank:80", 200, 0, samples -> look(samples, caller, isFull))
                .causes();
        return DiagnosisText.title(causes.get(0));
    }

    @Test
    void blockedCommonPoolDelaysAnswersOfTheJdksHttpClientInSpring() {
        assumeTrue(CommonPool.isUsedByFutures());

        assertThat(titleOfExchanges(SPRINGS_CLIENT, true)).endsWith(": " + ExecutorNames.COMMON_POOL);
    }

    @Test
    void commonPoolWithAFreeThreadDoesNotDelayAnswers() {
        assertThat(titleOfExchanges(SPRINGS_CLIENT, false)).isEqualTo("SLOW NETWORK: every HTTP peer");
    }

    /** Adds a sample, taken at the given time, of a call waiting for its tasks. */
    private static void waitForTasks(SampledCall samples, long time) {
        samples.add(new Sample(
                time,
                Phase.OWN,
                new Part(Part.Kind.RESULT, "Wards.overview"),
                List.of(new StackTraceElement("depot.Wards", "overview", null, 3)),
                "CompletableFuture.join",
                null,
                null,
                false,
                null,
                -1,
                -1));
    }

    /**
     * Simulates calls that wait for tasks of the common pool. Returns the cause that the diagnosis names first.
     *
     * @param fullOfTen the number of samples, out of ten, in which the pool is full
     */
    private static String titleOfTasks(int fullOfTen) {
        TaskWatch tasks = blockedTasks();
        AtomicInteger time = new AtomicInteger();
        List<Cause> causes = new SampledCalls()
                .tasks(tasks)
                .pool(idlePool())
                .calls("Desk.overview", Phase.OWN, 300, samples -> {
                    int now = time.incrementAndGet();
                    tasks.moments().add(now, now % 10 < fullOfTen);
                    waitForTasks(samples, now);
                })
                .causes();
        return DiagnosisText.title(causes.get(0));
    }

    @Test
    void commonPoolThatIsFullWhileCallsWaitIsTheCauseEvenIfItIsIdleAtTheEnd() {
        assertThat(titleOfTasks(6)).endsWith(": " + ExecutorNames.COMMON_POOL);
    }

    @Test
    void moreThreadsAreNotRecommendedForACommonPoolThatComputes() {
        TaskWatch tasks = new TaskWatch();
        for (int i = 0; i < 6; i++) {
            StackTraceElement[] stack = {
                new StackTraceElement("depot.Reports", "sum", null, 7),
                new StackTraceElement("java.util.concurrent.ForkJoinWorkerThread", "run", null, 1)
            };
            tasks.add(new ThreadSnapshot(
                    "ForkJoinPool.commonPool-worker-1", 9, Thread.State.RUNNABLE, stack, null, null, -1, -1));
        }

        CauseDescription description =
                CommonPool.describe(idlePool(), tasks.executor(ExecutorNames.COMMON_THREADS), List.of());

        assertThat(description.change().text())
                .startsWith("run fewer or shorter tasks")
                .contains("mostly in Reports.sum")
                .contains("more threads than processors would not make them quicker");
    }

    @Test
    void peerOfTasksIsTheCauseIfTheCommonPoolMostlyHasAFreeThread() {
        assertThat(titleOfTasks(3)).isEqualTo("SLOW TASKS: ForkJoinPool.commonPool in Wards.free");
    }

    @Test
    void threadOutsideOfCallsThatAwaitsAnAnswerWaitsForTheFullCommonPool() {
        assumeTrue(CommonPool.isUsedByFutures());
        ThreadSnapshot sends =
                look("confirmer", "java.util.concurrent.CompletableFuture/get", SPRINGS_CLIENT, "depot.Sms/work");
        ThreadSnapshot reads =
                look("confirmer", "jdk.internal.net.http.HttpClientImpl/send", SPRINGS_CLIENT, "depot.Sms/work");

        assertThat(CommonPool.read(sends, true)).isEqualTo(new Part(Part.Kind.POOL, ExecutorNames.COMMON_POOL));
        assertThat(CommonPool.read(sends, false)).isEqualTo(new Part(Part.Kind.HTTP, "called in Sms.work"));
        assertThat(CommonPool.read(reads, true)).isEqualTo(new Part(Part.Kind.HTTP, "called in Sms.work"));
    }

    @Test
    @Timeout(60)
    void poolIsFullWhileATaskWaitsForItsThreads() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        ForkJoinPool pool = new ForkJoinPool(1);
        try {
            pool.execute(() -> {
                begun.countDown();
                awaitEnd(release);
            });
            pool.execute(() -> awaitEnd(release));
            begun.await();

            assertThat(CommonPool.isFull(pool)).isTrue();
        } finally {
            release.countDown();
            pool.shutdown();
        }
    }

    private static void awaitEnd(CountDownLatch release) {
        try {
            release.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void blockedCommonPoolDoesNotDelayOtherClients() {
        assertThat(titleOfExchanges("jdk.internal.net.http.HttpClientImpl/send", true))
                .isEqualTo("SLOW NETWORK: every HTTP peer");
    }

    @Test
    void threadOfAPoolDoesNotRunItemsOfACall() {
        StackTraceElement[] stack = {
            new StackTraceElement("shop.Packages", "extra", "Packages.java", 1),
            new StackTraceElement("java.util.concurrent.ForkJoinTask", "doExec", "ForkJoinTask.java", 1),
            new StackTraceElement("java.util.concurrent.ForkJoinWorkerThread", "run", "ForkJoinWorkerThread.java", 1)
        };

        ThreadSnapshot thread = new ThreadSnapshot("w-1", 1, Thread.State.WAITING, stack, null, null, -1, -1);

        assertThat(thread.runsForkedTask()).isFalse();
    }
}
