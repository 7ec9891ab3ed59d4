package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Labels;
import shop.Newsletter;
import shop.Orders;
import shop.Overviews;
import shop.Packages;
import shop.Tickets;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.Holders;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Tests executors that are full because their tasks wait. */
class FullExecutorsTest {

    private static final int THREADS = 2;
    private static final Consumer<Shop.Steps> USUAL =
            call -> call.own(2).in(Phase.EXECUTOR, "legs", 0.2).in(Phase.SQL, "select stock", 3);

    private final Shop shop = new Shop();
    private final CompletableFuture<String> end = new CompletableFuture<>();
    private final AtomicInteger number = new AtomicInteger();
    private final ExecutorService legs =
            Executors.newFixedThreadPool(THREADS, task -> new Thread(task, "legs-" + number.incrementAndGet()));
    private final WaitingCalls calls = new WaitingCalls(shop);
    private final AtomicInteger tasks = new AtomicInteger();
    private final AtomicInteger rejected = new AtomicInteger();
    private int tasksPerSecond = 4;
    private double holdMillis = 3;
    private Duration held = Duration.ZERO;
    private @Nullable String submitter; // the code that submits most tasks outside of calls; null if calls submit them
    private int othersRunning;
    private long inner = -1; // the number of tasks that the executor's own threads submit; -1 if unknown

    FullExecutorsTest() {
        shop.pools.add(() -> PoolSnapshot.builder("legs", PoolKind.EXECUTOR, THREADS)
                .now(THREADS, 0, 300)
                .counts(tasks.addAndGet(tasksPerSecond), rejected.get())
                .sums(Duration.ZERO, held = held.plusNanos((long) (tasksPerSecond * holdMillis * 1e6)))
                .others(new PoolSnapshot.OtherTasks(
                        submitter == null ? 0 : 3 * tasks.get() / 4,
                        submitter == null ? Duration.ZERO : held.multipliedBy(3).dividedBy(4),
                        othersRunning,
                        submitter))
                .inner(inner < 0 ? -1 : inner * tasks.get())
                .settings(List.of())
                .build());
        shop.healthy(USUAL);
        holdMillis = 990;
    }

    @AfterEach
    void endThreads() throws InterruptedException {
        end.complete("");
        legs.shutdown();
        calls.join();
    }

    private void holdAllConnections() {
        Holders holders = new Holders();
        holders.size(4);
        for (int i = 0; i < 4; i++) {
            Orders.export(holders, shop.now());
        }
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("druid", PoolKind.JDBC, 4)
                        .now(4, 0, 50)
                        .settings(List.of())
                        .build(),
                holders));
    }

    /**
     * Simulates calls waiting for results of the executor's tasks, and other calls waiting for one of the executor's
     * threads.
     */
    private List<Cause> causesWith(Runnable task, Consumer<Shop.Steps> others) throws Exception {
        for (int i = 0; i < THREADS; i++) {
            legs.execute(task);
        }
        calls.firstCause(() -> Packages.of(end), others);
        return shop.diagnosis().causes();
    }

    @Test
    void fullExecutorIsASymptomOfTheThreadsThatHoldTheConnectionsItsTasksWaitFor() throws Exception {
        holdAllConnections();

        List<Cause> causes =
                causesWith(() -> Packages.stored(end), call -> call.own(2).in(Phase.EXECUTOR, "legs", 700));

        assertThat(causes).extracting(DiagnosisText::title).containsExactly("HELD BY OTHERS: druid");
        assertThat(causes.get(0).symptoms()).anyMatch(line -> line.startsWith("calls wait for a thread of \"legs\""));
        assertThat(causes.get(0).saves()).isEqualTo(1);
    }

    @Test
    void rejectedTasksAreASymptomOfTheLockForWhichTheRunningTasksWait() throws Exception {
        Object lock = new Object();
        CountDownLatch locked = new CountDownLatch(1);
        Thread holder = new Thread(() -> Packages.lock(lock, locked, end), "reload-1");
        holder.start();
        locked.await();
        Throwable failure = Tickets.rejected("Task rejected from java.util.concurrent.ThreadPoolExecutor@5e9[Running,"
                + " pool size = 2, active threads = 2, queued tasks = 300, completed tasks = 12]");

        List<Cause> causes = causesWith(() -> Packages.locked(lock), call -> {
            rejected.incrementAndGet();
            shop.call(Shop.PLACE, 0, failure, USUAL);
        });

        assertThat(causes).extracting(Cause::kind).containsExactly("LOCK");
        assertThat(causes.get(0).change().text()).contains("Packages.lock:");
        assertThat(causes.get(0).symptoms()).anyMatch(line -> line.startsWith("a full executor rejects tasks: "));
        end.complete("");
        holder.join();
    }

    @Test
    void rejectedTasksOfOneKindNeedNoSeparateExecutor() throws Exception {
        Throwable failure = Tickets.rejected("Task rejected from java.util.concurrent.ThreadPoolExecutor@5e9[Running,"
                + " pool size = 2, active threads = 2, queued tasks = 300, completed tasks = 12]");
        OutsideOperations.clear();
        Thread earlier =
                new Thread(() -> OutsideOperations.ran(Phase.HTTP, "POST mail:80/send", 990_000_000), "legs-7");
        earlier.start();
        earlier.join();

        List<Cause> causes = causesWith(() -> Newsletter.mail(end), call -> {
            rejected.incrementAndGet();
            shop.call(Shop.PLACE, 0, failure, USUAL);
        });
        OutsideOperations.clear();

        assertThat(causes.get(0).kind()).as(shop.diagnosis().text()).isEqualTo("EXECUTOR FULL");
        assertThat(causes.get(0).change().text())
                .startsWith("find out why the tasks of \"legs\" take 990 ms each instead of 3")
                .contains("(POST mail:80/send takes 990 ms)")
                .contains("neither more threads nor a separate executor helps")
                .contains("do not let its call fail");
    }

    @Test
    void rejectedTasksAreASymptomOfTasksThatWaitForOtherTasks() throws Exception {
        Throwable failure = Tickets.rejected("Task rejected from java.util.concurrent.ThreadPoolExecutor@5e9[Running,"
                + " pool size = 2, active threads = 2, queued tasks = 300, completed tasks = 12]");

        List<Cause> causes = causesWith(() -> Packages.whole(end), call -> {
            rejected.incrementAndGet();
            shop.call(Shop.PLACE, 0, failure, USUAL);
        });

        assertThat(causes)
                .extracting(DiagnosisText::title)
                .containsExactly("TASKS WAIT FOR TASKS: tasks of legs in" + " Packages.whole");
        assertThat(causes.get(0).symptoms()).anyMatch(line -> line.startsWith("a full executor rejects tasks: "));
    }

    @Test
    void executorWhoseTasksWaitForASlowPeerIsASymptomOfThePeer() throws Exception {
        List<Cause> causes = causesWith(
                () -> Packages.extra(end),
                call -> call.own(150).in(Phase.EXECUTOR, "legs", 700).in(Phase.HTTP, "GET printer/print", 60));

        assertThat(causes).extracting(DiagnosisText::title).containsExactly("SLOW HTTP PEER: GET printer/print");
    }

    /**
     * There are 25 times as many tasks as usual, and each takes 6 times as long. Together, they fill the two threads.
     */
    @Test
    void executorWhoseTasksBecameMoreFrequentThanSlowerIsTooSmallAlthoughTheirPeerIsSlowerToo() throws Exception {
        tasksPerSecond = 100;
        holdMillis = 19;

        List<Cause> causes = causesWith(
                () -> Packages.extra(end),
                call -> call.own(2).in(Phase.EXECUTOR, "legs", 700).in(Phase.HTTP, "GET printer/print", 19));

        assertThat(causes.get(0).title()).as(shop.diagnosis().text()).isEqualTo("EXECUTOR TOO SMALL: legs");
    }

    /**
     * Simulates calls that wait in a class whose code no task runs, and that run an exchange in tasks.
     *
     * @param task the code in which the tasks wait for the exchange
     */
    private String firstOfExchangeInTasks(Runnable task, double exchangeMillis) throws Exception {
        for (int i = 0; i < THREADS; i++) {
            legs.execute(task);
        }
        calls.after(ledger -> ledger.begin(Phase.EXECUTOR, () -> "legs"));
        calls.firstCause(
                () -> Labels.print(end),
                call -> call.own(150)
                        .in(Phase.EXECUTOR, "legs", 700)
                        .in(Phase.HTTP, "GET printer/print", exchangeMillis));
        return shop.diagnosis().causes().get(0).title();
    }

    @Test
    void slowPeerOfTasksIsTheCauseAlthoughTheCallsWaitInAnotherClass() throws Exception {
        assertThat(firstOfExchangeInTasks(() -> Packages.extra(end), 60))
                .isEqualTo("SLOW HTTP PEER: GET printer/print");
    }

    @Test
    void slowPeerForWhoseAnswerTasksWaitIsTheCause() throws Exception {
        assertThat(firstOfExchangeInTasks(() -> Packages.offered(end), 900))
                .isEqualTo("SLOW HTTP PEER: GET printer/print");
    }

    @Test
    void unrelatedTasksThatWaitForAServerNeedAnExecutorOfTheirOwn() throws Exception {
        List<Cause> causes =
                causesWith(() -> Newsletter.mail(end), call -> call.own(2).in(Phase.EXECUTOR, "legs", 700));

        assertThat(causes.get(0).name()).isEqualTo("legs");
        assertThat(causes.get(0).change().text()).contains("use a separate executor");
    }

    /** Simulates tasks that a campaign submits, and that run the same code as the tasks of the calls. */
    private List<Cause> causesWithCampaign(double exchangeMillis) throws Exception {
        holdMillis = 3;
        shop.healthy(call -> USUAL.accept(call.in(Phase.HTTP, "GET printer/print", 3)));
        holdMillis = 990;
        submitter = "Campaign.run:7 (thread campaign)";
        return causesWith(
                () -> Packages.extra(end),
                call -> call.own(150)
                        .in(Phase.EXECUTOR, "legs", 700)
                        .in(Phase.HTTP, "GET printer/print", exchangeMillis));
    }

    @Test
    void executorThatIsBusyWithTasksOfNoCallIsTheCauseAndNotTheServerOfTheTasks() throws Exception {
        List<Cause> causes = causesWithCampaign(3);

        assertThat(causes.get(0).title()).isEqualTo("BUSY WITH OTHER TASKS: legs");
        assertThat(causes.get(0).change().text())
                .startsWith(
                        "use a separate executor for the tasks that are submitted in Campaign.run:7 (thread campaign)");
        assertThat(causes.get(0).evidence())
                .anyMatch(line -> line.startsWith("others   3 of 4 tasks/s do not belong to calls"));
        assertThat(causes).extracting(Cause::kind).doesNotContain("SLOW HTTP PEER");
    }

    @Test
    void serverThatSlowsDownTheTasksOfCallsAsWellIsTheCause() throws Exception {
        assertThat(causesWithCampaign(60).get(0).title()).isEqualTo("SLOW HTTP PEER: GET printer/print");
    }

    @Test
    void longTasksOfNoCallThatHaveNotEndedOccupyAnExecutor() throws Exception {
        holdMillis = 3;
        submitter = "Campaign.run:7 (thread campaign)";
        othersRunning = THREADS;

        List<Cause> causes =
                causesWith(() -> Newsletter.mail(end), call -> call.own(2).in(Phase.EXECUTOR, "legs", 700));

        assertThat(causes.get(0).title()).isEqualTo("BUSY WITH OTHER TASKS: legs");
    }

    /** When calls give up, their tasks remain, but no longer belong to a call. */
    @Test
    void tasksOfEndedCallsThatWaitForTasksOfTheirExecutorAreTheCause() throws Exception {
        FutureTask<String> inner = new FutureTask<>(() -> "");
        holdMillis = 3;
        submitter = "Packages.split:20 (thread legs)";
        othersRunning = THREADS;

        List<Cause> causes =
                causesWith(() -> Packages.split(inner), call -> call.own(2).in(Phase.EXECUTOR, "legs", 700));
        inner.run();

        assertThat(causes)
                .extracting(DiagnosisText::title)
                .containsExactly("TASKS WAIT FOR TASKS: tasks of legs in Packages.split");
    }

    /**
     * Simulates calls waiting in a class whose code no task runs. The tasks of these calls wait in two methods, each
     * for a future, and for at most a few seconds.
     *
     * @param own how many tasks the threads of the executor submit for each task that starts
     */
    private Cause firstOfCallsInAnotherClass(long own) throws Exception {
        inner = own;
        legs.execute(() -> Overviews.assemble(end));
        legs.execute(() -> Packages.whole(end));
        calls.firstCause(() -> Newsletter.send(end), call -> call.own(2).in(Phase.EXECUTOR, "legs", 700));
        return shop.diagnosis().causes().get(0);
    }

    @Test
    void tasksThatWaitSomeSecondsForTasksOfTheirOwnThreadsAreTheCause() throws Exception {
        Cause first = firstOfCallsInAnotherClass(1);

        assertThat(first.title()).as(shop.diagnosis().text()).startsWith("TASKS WAIT FOR TASKS: tasks of legs in ");
        assertThat(first.change().text()).startsWith("use a separate executor for the inner tasks");
        assertThat(first.evidence()).anyMatch(line -> line.startsWith("inner    threads of this executor submit"));
    }

    @Test
    void tasksThatWaitForOthersThanTheTasksOfTheirExecutorDoNotWaitForTasks() throws Exception {
        assertThat(firstOfCallsInAnotherClass(0).kind()).isNotEqualTo("TASKS WAIT FOR TASKS");
        end.complete("");
    }

    @Test
    void tasksThatHaveNeverSubmittedTasksOfTheirExecutorDoNotWaitForThem() throws Exception {
        inner = 0;
        List<Cause> causes =
                causesWith(() -> Packages.whole(end), call -> call.own(2).in(Phase.EXECUTOR, "legs", 700));

        assertThat(causes).extracting(Cause::kind).doesNotContain("TASKS WAIT FOR TASKS");
    }

    /** Simulates tasks that read from a socket, and calls waiting for a thread of their executor. */
    private Cause firstWithSlowPrinter(Runnable wait, Runnable second) throws Exception {
        try (ServerSocket printer = new ServerSocket(0, 2, InetAddress.getLoopbackAddress());
                Socket client = new Socket(printer.getInetAddress(), printer.getLocalPort());
                Socket answers = printer.accept()) {
            legs.execute(() -> Labels.render(client));
            legs.execute(second);
            calls.after(ledger -> ledger.begin(Phase.EXECUTOR, () -> "legs"));
            calls.firstCause(wait, call -> call.own(2).in(Phase.EXECUTOR, "legs", 700));
            answers.getOutputStream().write(new byte[2]);
        }
        return shop.diagnosis().causes().get(0);
    }

    @Test
    void workThatMadeAllTasksSlowIsTheCauseAndNotTheirExecutor() throws Exception {
        Cause first = firstWithSlowPrinter(() -> Labels.print(end), () -> {});

        assertThat(first.title()).as(shop.diagnosis().text()).isEqualTo("SLOW SOCKET: Labels.render");
        assertThat(first.change().text())
                .startsWith("check the peer that Labels.render:")
                .doesNotContain("separate executor");
        assertThat(first.evidence()).contains("tasks    of legs take 990 ms each, usually 3.0 ms");
        assertThat(first.symptoms()).anyMatch(line -> line.startsWith("calls wait for a thread of \"legs\""));
    }

    @Test
    void slowTasksOfOtherCodeNeedASeparateExecutor() throws Exception {
        Cause first = firstWithSlowPrinter(() -> Packages.of(end), () -> {});

        assertThat(first.change().text()).as(shop.diagnosis().text()).startsWith("use a separate executor");
    }

    @Test
    void oneOfSeveralKindsOfTasksThatBecameSlowNeedsASeparateExecutor() throws Exception {
        Cause first = firstWithSlowPrinter(() -> Labels.print(end), () -> Newsletter.send(end));

        assertThat(first.change().text()).as(shop.diagnosis().text()).startsWith("use a separate executor");
    }
}
