package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import depot.Batch;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import shop.Newsletter;
import shop.Packages;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests calls waiting for real tasks, which in turn wait for other tasks or for a peer. */
class WaitingTasksTest {

    private static final int THREADS = 6;
    private static final Consumer<Shop.Steps> USUAL = call -> call.own(2).in(Phase.SQL, "select stock", 3);

    private final Shop shop = new Shop();
    private final CompletableFuture<String> end = new CompletableFuture<>();
    private final AtomicInteger number = new AtomicInteger();
    private final ExecutorService packager = new ThreadPoolExecutor(
            THREADS,
            THREADS,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> new Thread(task, "packager-" + number.incrementAndGet()));
    private final WaitingCalls calls = new WaitingCalls(shop);

    @AfterEach
    void endThreads() throws InterruptedException {
        end.complete("");
        packager.shutdown();
        calls.join();
    }

    /** Simulates calls waiting for tasks with the given code, and returns the first cause. */
    private Cause firstCause(Consumer<CompletableFuture<String>> task, int queued) throws Exception {
        return firstCause(task, queued, USUAL);
    }

    /** @param later the simulated steps of other calls, which end while the first calls wait for the tasks */
    private Cause firstCause(Consumer<CompletableFuture<String>> task, int queued, Consumer<Shop.Steps> later)
            throws Exception {
        shop.healthy(USUAL);
        shop.pools.add(() -> PoolSnapshot.builder("packager", PoolKind.EXECUTOR, THREADS)
                .now(THREADS, 0, queued)
                .settings(List.of())
                .build());
        for (int i = 0; i < THREADS; i++) {
            packager.execute(() -> task.accept(end));
        }
        return calls.firstCause(() -> Packages.of(end), later);
    }

    @Test
    void tasksThatWaitForQueuedTasksAreTheCause() throws Exception {
        Cause first = firstCause(Packages::whole, 3);

        assertThat(first.kind()).isEqualTo("TASKS WAIT FOR TASKS");
        assertThat(first.name()).contains("packager").contains("Packages.whole");
    }

    /**
     * The executor is found in a field. The names of its threads differ from its name, and it is unknown who submits
     * the tasks.
     */
    @Test
    void tasksThatWaitForQueuedTasksOfAnExecutorWithUnnamedThreadsAreTheCause() throws Exception {
        shop.healthy(USUAL);
        shop.pools.add(() -> PoolSnapshot.builder("Boxes.threads", PoolKind.EXECUTOR, THREADS)
                .now(THREADS, 0, 180)
                .thread("packager-1")
                .counts(400, 0)
                .settings(List.of())
                .build());
        for (int i = 0; i < THREADS; i++) {
            packager.execute(() -> Packages.all(end));
        }

        Cause first = calls.firstCause(() -> Packages.of(end), USUAL);

        assertThat(first.kind()).as(shop.diagnosis().text()).isEqualTo("TASKS WAIT FOR TASKS");
        assertThat(first.name()).contains("Packages.all");
        assertThat(first.change().text()).contains("a separate executor for the inner tasks");
    }

    @Test
    void executorThatStartsNoTaskOfTheCallsIsTheCause() throws Exception {
        calls.after(ledger -> ledger.begin(Phase.EXECUTOR, () -> "packager"));

        Cause first = firstCause(Newsletter::send, 3);

        assertThat(first.name()).as(shop.diagnosis().text()).isEqualTo("packager");
        assertThat(first.change().text()).contains("mostly in Newsletter.send");
    }

    @Test
    void otherTasksThatOccupyTheExecutorAreTheCause() throws Exception {
        Cause first = firstCause(Newsletter::send, 3, call -> call.own(1).in(Phase.EXECUTOR, "packager", 150));

        assertThat(first.name()).as(shop.diagnosis().text()).isEqualTo("packager");
        assertThat(first.change().text()).contains("mostly in Newsletter.send").contains("use a separate executor");
    }

    @Test
    void asynchronousCallsWaitForTheOnlyBusyExecutor() throws Exception {
        shop.healthy(call -> call.own(1).in(Phase.UNATTRIBUTED, null, 5));
        for (int i = 0; i < THREADS; i++) {
            packager.execute(() -> Packages.extra(end));
        }
        CallLedger ledger = new CallLedger(shop::now);
        ledger.turnTo(Phase.UNATTRIBUTED);
        for (int second = 0; second < 6; second++) {
            for (int look = 0; look < 8; look++) {
                shop.running.clear();
                shop.running.add(new RunningCall(Shop.PLACE, RunningCall.NO_THREAD, Phase.UNATTRIBUTED, 1, 1, ledger));
                shop.diagnostician.look();
                shop.pass(100);
            }
            shop.second(100, call -> call.own(1).in(Phase.UNATTRIBUTED, null, 400));
        }

        Cause first = shop.diagnosis().causes().get(0);
        assertThat(first.kind() + ": " + first.name()).isEqualTo("SLOW HTTP PEER: called in Packages.extra");
    }

    /** The long job occupies the thread on which another job would complete the futures that calls wait for. */
    @Test
    void schedulerThatALongJobOccupiesIsTheCauseOfWaitsForItsOtherJobs() throws Exception {
        shop.healthy(USUAL);
        ExecutorService scheduler = Executors.newSingleThreadExecutor(task -> new Thread(task, "scheduling-1"));
        scheduler.execute(() -> Newsletter.mail(end));

        Cause first = calls.firstCause(() -> Packages.of(end), USUAL);

        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("EXECUTOR TOO SMALL: scheduling");
        assertThat(first.change().text()).contains("Newsletter.mail").contains("spring.task.scheduling.pool.size");
        end.complete("");
        scheduler.shutdown();
    }

    @Test
    void tasksThatWaitWithinALibraryDoNotWaitForTasks() throws Exception {
        Cause first = firstCause(Packages::extra, 3);

        assertThat(first.kind()).isNotEqualTo("TASKS WAIT FOR TASKS");
        assertThat(shop.diagnosis().text()).contains("Packages.extra").doesNotContain("find no thread");
    }

    @Test
    void tasksDoNotWaitForTasksIfNoneIsQueued() throws Exception {
        Cause first = firstCause(Packages::whole, 0);

        assertThat(first.kind()).isNotEqualTo("TASKS WAIT FOR TASKS");
    }

    @Test
    void peerOfTasksIsNamedByTheLedgersOfTheWaitingCalls() throws Exception {
        Cause first = firstCause(Packages::extra, 0, call -> call.own(150).in(Phase.HTTP, "GET printer/print", 40));

        assertThat(first.kind()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER");
        assertThat(first.name()).isEqualTo("GET printer/print");
        assertThat(shop.diagnosis().causes()).noneMatch(cause -> cause.name().startsWith("called in"));
    }

    @Test
    void callsThatRunTasksOfAFullExecutorThemselvesNameTheExecutor() throws Exception {
        shop.healthy(USUAL);
        shop.pools.add(() -> PoolSnapshot.builder("audit", PoolKind.EXECUTOR, 1)
                .now(1, 0, 2)
                .settings(List.of())
                .build());
        RejectedExecutionHandler policy = new ThreadPoolExecutor.CallerRunsPolicy();

        Cause first = calls.firstCause(
                () -> policy.rejectedExecution(() -> Packages.of(end), (ThreadPoolExecutor) packager), USUAL);

        assertThat(first.kind() + ": " + first.name())
                .as(shop.diagnosis().text())
                .isEqualTo("CALLER RUNS: audit");
        assertThat(first.change().text()).contains("a rejection policy other than caller-runs");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Packages.extra", "Batch.ask"})
    void blockedTasksOfTheCommonPoolNeedAnExecutorOfTheirOwn(String code) throws Exception {
        shop.healthy(USUAL);
        shop.pools.add(() -> PoolSnapshot.builder(ExecutorNames.COMMON_POOL, PoolKind.EXECUTOR, 2)
                .now(2, 0, 5)
                .settings(List.of())
                .build());
        AtomicInteger named = new AtomicInteger();
        ForkJoinPool common = new ForkJoinPool(
                2,
                pool -> {
                    ForkJoinWorkerThread thread = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
                    thread.setName("ForkJoinPool.commonPool-worker-" + named.incrementAndGet());
                    return thread;
                },
                null,
                false);
        Runnable task = code.startsWith("Batch") ? () -> Batch.ask(end) : () -> Packages.extra(end);
        common.execute(task);
        common.execute(task);

        Cause first = calls.firstCause(() -> Packages.of(end), USUAL);

        assertThat(first.name()).as(shop.diagnosis().text()).isEqualTo(ExecutorNames.COMMON_POOL);
        assertThat(first.change().text())
                .contains("mostly waiting for a peer in " + code)
                .contains("use a separate executor");
        common.shutdown();
    }

    @Test
    void executorWithABacklogThatNoCallAwaitsIsNotTheCause() throws Exception {
        shop.healthy(USUAL);
        shop.pools.add(() -> PoolSnapshot.builder("mail", PoolKind.EXECUTOR, 1)
                .now(1, 0, 5)
                .settings(List.of())
                .build());

        Cause first = calls.firstCause(() -> Packages.of(end), USUAL);

        assertThat(first.kind() + ": " + first.name())
                .as(shop.diagnosis().text())
                .isEqualTo("WAITS FOR A RESULT: Packages.of");
    }

    @Test
    void callsWaitForTheSingleExecutorWithAMuchLongerQueueThanUsual() throws Exception {
        AtomicInteger waiting = new AtomicInteger();
        shop.pools.add(() -> PoolSnapshot.builder("mail", PoolKind.EXECUTOR, 1)
                .now(1, 0, waiting.get())
                .settings(List.of())
                .build());
        shop.healthy(USUAL);
        waiting.set(500);

        Cause first = calls.firstCause(() -> Packages.of(end), USUAL);

        assertThat(first.name()).as(shop.diagnosis().text()).isEqualTo("mail");
    }

    @Test
    void tasksOfAnExecutorWithoutNamedThreadsAreThoseThatTheCallsAwait() throws Exception {
        shop.healthy(USUAL);
        shop.pools.add(() -> PoolSnapshot.builder("printing", PoolKind.EXECUTOR, THREADS)
                .now(THREADS, 0, 5)
                .settings(List.of())
                .build());
        for (int i = 0; i < THREADS; i++) {
            packager.execute(() -> Newsletter.send(end));
        }

        calls.firstCause(() -> Packages.of(end), call -> call.own(1).in(Phase.EXECUTOR, "printing", 150));

        assertThat(shop.diagnosis().causes())
                .filteredOn(cause -> cause.name().equals("printing"))
                .first()
                .satisfies(cause -> assertThat(cause.change().text()).contains("mostly in Newsletter.send"));
    }

    @Test
    void callsAreNotSaidToWaitForASingleBusyExecutorWithoutEvidence() throws Exception {
        shop.healthy(USUAL);
        for (int i = 0; i < THREADS; i++) {
            packager.execute(() -> Batch.run(end));
        }

        Cause first = calls.firstCause(() -> Packages.of(end), USUAL);

        assertThat(first.kind() + ": " + first.name())
                .as(shop.diagnosis().text())
                .isEqualTo("WAITS FOR A RESULT: Packages.of");
    }

    @Test
    void consumersThatWaitForTheNextItemAreIdle() throws Exception {
        shop.healthy(USUAL);
        BlockingQueue<Runnable> items = new LinkedBlockingQueue<>();
        for (int i = 0; i < THREADS; i++) {
            packager.execute(() -> Batch.consume(items));
        }

        Cause first =
                calls.firstCause(() -> Packages.of(end), call -> call.own(150).in(Phase.EXECUTOR, "packager", 1));

        assertThat(first.kind()).as(shop.diagnosis().text()).isEqualTo("WAITS FOR A RESULT");
        for (int i = 0; i < THREADS; i++) {
            items.add(() -> {});
        }
    }

    @Test
    void threadThatNoExecutorOwnsWorksOnTheResult() throws Exception {
        shop.healthy(USUAL);
        Thread printer = new Thread(() -> Packages.extra(end), "printer-1");
        printer.start();

        Cause first = calls.firstCause(() -> Packages.of(end), USUAL);

        assertThat(first.kind() + ": " + first.name())
                .as(shop.diagnosis().text())
                .isEqualTo("SLOW HTTP PEER: called in Packages.extra");
        end.complete("");
        printer.join();
    }

    private static Part read(String... frames) {
        StackTraceElement[] stack = new StackTraceElement[frames.length];
        for (int i = 0; i < frames.length; i++) {
            int end = frames[i].lastIndexOf('.');
            stack[i] = new StackTraceElement(frames[i].substring(0, end), frames[i].substring(end + 1), null, 1);
        }
        return StackReader.read(new ThreadSnapshot("task-1", 7, Thread.State.WAITING, stack, null, null, -1, -1));
    }

    @Test
    void waitWithinAClientIsAWaitForItsPeer() {
        String join = "java.util.concurrent.CompletableFuture.join";

        assertThat(read(join, "org.springframework.http.client.JdkClientHttpRequest.execute", "hotel.Packages.extra"))
                .isEqualTo(new Part(Part.Kind.HTTP, "called in Packages.extra"));
        assertThat(read("java.lang.Object.wait", "tern.rpc.client.ServiceProxy.invoke", "hotel.Quotes.points"))
                .isEqualTo(new Part(Part.Kind.RPC, "called in Quotes.points"));
        assertThat(read(join, "org.apache.kafka.clients.producer.KafkaProducer.send", "hotel.Events.publish"))
                .isEqualTo(new Part(Part.Kind.SOCKET, "Events.publish"));
        assertThat(read(join, "hotel.Packages.extra")).isEqualTo(new Part(Part.Kind.RESULT, "Packages.extra"));
    }

    @Test
    void callsAreNotSaidToWaitForAMeasuredExecutorToWhichTheyGaveNoTask() throws Exception {
        AtomicInteger waiting = new AtomicInteger();
        shop.pools.add(() -> PoolSnapshot.builder("mail", PoolKind.EXECUTOR, 1)
                .now(1, 0, waiting.get())
                .counts(7, 0)
                .sums(Duration.ZERO, Duration.ofMillis(200))
                .settings(List.of())
                .build());
        shop.healthy(USUAL);
        waiting.set(500);

        Cause first = calls.firstCause(() -> Packages.of(end), USUAL);

        assertThat(first.kind() + ": " + first.name())
                .as(shop.diagnosis().text())
                .isEqualTo("WAITS FOR A RESULT: Packages.of");
    }

    /** Simulates an executor whose tasks take 30 ms. The running tasks are in code of the class that waits. */
    private List<Cause> causesAtFullExecutor(double others, double queuedMillis) throws Exception {
        long[] started = {0};
        shop.pools.add(() -> PoolSnapshot.builder("packager", PoolKind.EXECUTOR, THREADS)
                .now(THREADS, 0, 3)
                .counts(started[0] += 20, 0)
                .sums(Duration.ZERO, Duration.ofMillis(started[0] * 30))
                .settings(List.of())
                .build());
        shop.healthy(call -> USUAL.accept(call.in(Phase.EXECUTOR, "packager", 1)));
        shop.machine = new Machine(2, 0.3, others, 0, 0, 0.2, null, 10e6, -1, List.of(), 0, null, List.of());
        for (int i = 0; i < THREADS; i++) {
            packager.execute(() -> Packages.extra(end));
        }
        calls.firstCause(() -> Packages.of(end), call -> call.own(2).in(Phase.EXECUTOR, "packager", queuedMillis));
        return shop.diagnosis().causes();
    }

    @Test
    void waitForTasksOfUsualDurationIsAWaitForAThread() throws Exception {
        assertThat(causesAtFullExecutor(0.1, 900))
                .as(shop.diagnosis().text())
                .extracting(Cause::name)
                .containsExactly("packager");
    }

    /** Simulates tasks that take 390 ms each, because they wait for the answer of a reactive client. */
    private List<Cause> causesOfTasksThatAwaitAReactiveClient(int max, int waitMillis, int holdMillis)
            throws Exception {
        long[] started = {0};
        String connections = "http-carriers carriers:80";
        shop.pools.add(() -> PoolSnapshot.builder("packager", PoolKind.EXECUTOR, THREADS)
                .now(THREADS, 0, 40)
                .counts(started[0] += 22, 0)
                .sums(Duration.ZERO, Duration.ofMillis(started[0] * 390))
                .settings(List.of())
                .build());
        shop.pools.add(() -> PoolSnapshot.builder(connections, PoolKind.HTTP, max)
                .now(Math.min(max, THREADS), -1, Math.max(0, THREADS - max))
                .counts(started[0], 0)
                .sums(Duration.ofMillis(started[0] * waitMillis), Duration.ofMillis(started[0] * holdMillis))
                .build());
        shop.healthy(USUAL);
        for (int i = 0; i < THREADS; i++) {
            packager.execute(() -> Packages.offered(end));
        }
        calls.firstCause(
                () -> Newsletter.send(end),
                call -> call.own(2)
                        .in(Phase.EXECUTOR, "packager", 900)
                        .in(Phase.HTTP_CONNECTION, connections, waitMillis)
                        .in(Phase.HTTP, "GET carriers:80/offer", holdMillis));
        return shop.diagnosis().causes();
    }

    @Test
    void tasksThatAwaitAConnectionOfAReactiveClientMakeTheirExecutorFull() throws Exception {
        Cause first = causesOfTasksThatAwaitAReactiveClient(1, 345, 45).get(0);

        assertThat(DiagnosisText.title(first))
                .as(shop.diagnosis().text())
                .isEqualTo("POOL TOO SMALL: http-carriers carriers:80");
    }

    @Test
    void tasksThatAwaitTheAnswerOfAReactiveClientDoNotAwaitAConnection() throws Exception {
        Cause first = causesOfTasksThatAwaitAReactiveClient(100, 1, 389).get(0);

        assertThat(first.name()).as(shop.diagnosis().text()).isNotEqualTo("http-carriers carriers:80");
    }
}
