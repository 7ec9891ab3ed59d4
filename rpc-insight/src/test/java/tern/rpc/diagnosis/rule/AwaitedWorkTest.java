package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import shop.Packages;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.SampledMoments;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Tests which work of other threads explains why calls wait for a result. In each test, the threads that may complete
 * the result wait for an HTTP peer in eight of ten samples.
 */
class AwaitedWorkTest {

    private static final String RESULT = "WAITS FOR A RESULT: Parcels.of";
    private static final String PEER = "SLOW HTTP PEER: called in Parcels.send";
    private static final String EXCHANGE = "GET stock:80";
    private static final int SECONDS = 20;

    private final TaskWatch tasks = new TaskWatch();
    private final AtomicLong time = new AtomicLong();
    private final SampledCalls calls = new SampledCalls().tasks(tasks);

    @AfterEach
    void forget() {
        OutsideOperations.clear();
    }

    private static StackTraceElement frame(String type, String method) {
        return new StackTraceElement(type, method, null, 7);
    }

    /**
     * Adds samples of threads of the executor {@code parcels}. Eight of ten samples find a thread in an HTTP exchange.
     */
    private void lookAtThreads() {
        for (int i = 0; i < 10; i++) {
            StackTraceElement[] sends = {
                frame("sun.nio.ch.NioSocketImpl", "park"),
                frame("org.apache.hc.client5.http.impl.classic.CloseableHttpClient", "execute"),
                frame("depot.Parcels", "send"),
                frame("java.util.concurrent.ThreadPoolExecutor$Worker", "run")
            };
            StackTraceElement[] idle = {
                frame("jdk.internal.misc.Unsafe", "park"),
                frame("java.util.concurrent.LinkedBlockingQueue", "take"),
                frame("java.util.concurrent.ThreadPoolExecutor$Worker", "run")
            };
            tasks.add(
                    new ThreadSnapshot("parcels-1", 9, Thread.State.WAITING, i < 8 ? sends : idle, null, null, -1, -1));
        }
    }

    /** Adds a sample of a call waiting for a result. */
    private void waits(SampledCall samples) {
        Part wait = new Part(Part.Kind.RESULT, "Parcels.of");
        List<StackTraceElement> path = List.of(frame("depot.Parcels", "of"));
        samples.add(new Sample(
                time.get(), Phase.OWN, wait, path, "CompletableFuture.get", null, null, false, null, -1, -1));
    }

    /**
     * Adds a sample of a call waiting for a result, and the work of other threads at the same moment.
     *
     * @param workingOfTen the number of samples, out of ten, in which one of the other threads is working
     */
    private void waits(SampledCall samples, int workingOfTen) {
        long now = time.incrementAndGet();
        Set<String> busy = now % 10 < workingOfTen ? Set.of("parcels") : Set.of();
        tasks.moments().add(now, new SampledMoments.Work(busy, Set.of()));
        waits(samples);
    }

    private Cause first() {
        return calls.causes().get(0);
    }

    private String titleIfThreadsWorkAt(int workingOfTen) {
        calls.calls("Desk.parcels", Phase.OWN, 400, samples -> waits(samples, workingOfTen));
        return DiagnosisText.title(first());
    }

    @Test
    void threadsThatWorkWhileCallsWaitExplainTheWait() {
        lookAtThreads();

        assertThat(titleIfThreadsWorkAt(10)).isEqualTo(PEER);
    }

    @Test
    void threadsThatOftenDoNotWorkWhileCallsWaitDoNotExplainTheWait() {
        lookAtThreads();

        assertThat(titleIfThreadsWorkAt(5)).isEqualTo(RESULT);
        assertThat(first().evidence())
                .contains("waits    20 of 20 recorded late or failed calls wait here, 400 ms each")
                .contains("threads  parcels* worked in 50 of 100 samples of these calls");
        assertThat(first().change().text())
                .startsWith("complete this result also if code fails")
                .contains("if a server answers it (Kafka, HTTP), find out why the server answers slowly")
                .contains("calls wait in Parcels.of:7");
    }

    @Test
    void threadsOfWhichSomeWereNotSampledMayHaveWorked() {
        lookAtThreads();
        calls.calls("Desk.parcels", Phase.OWN, 400, samples -> {
            tasks.moments().add(time.incrementAndGet(), new SampledMoments.Work(Set.of(), Set.of("parcels")));
            waits(samples);
        });

        assertThat(DiagnosisText.title(first())).isEqualTo(PEER);
    }

    @Test
    void operationThatHasBecomeSlowerExplainsTheWait() {
        lookAtThreads();
        calls.usually("Desk.stock", Phase.HTTP, EXCHANGE, 5)
                .waiting("Desk.parcels", EXCHANGE, 150, 400, samples -> waits(samples, 5));

        assertThat(DiagnosisText.title(first())).isEqualTo("SLOW HTTP PEER: " + EXCHANGE);
    }

    @Test
    void operationThatTakesItsUsualTimeDoesNotExplainTheWait() {
        lookAtThreads();
        calls.usually("Desk.stock", Phase.HTTP, EXCHANGE, 30)
                .waiting("Desk.parcels", EXCHANGE, 31, 400, samples -> waits(samples, 5));

        assertThat(DiagnosisText.title(first())).isEqualTo(RESULT);
        assertThat(first().evidence()).contains("usual    GET stock:80 takes 31 ms, usually 30 ms");
    }

    private static PoolSnapshot measured(String executor) {
        return PoolSnapshot.builder(executor, PoolKind.EXECUTOR, 8)
                .now(1, 7, 0)
                .counts(100, 0)
                .sums(Duration.ZERO, Duration.ofSeconds(2))
                .settings(List.of())
                .build();
    }

    private void measureTasks() {
        lookAtThreads();
        calls.pool(measured("parcels"));
    }

    /** Adds calls that are waiting for a result and whose tasks have ended. */
    private void waitAfterTasks() {
        calls.calls("Desk.parcels", Phase.OWN, 400, samples -> {
            waits(samples, 10); // The executor's threads run tasks of other calls.
            samples.resultLooks++;
            samples.unattendedLooks++;
        });
    }

    @Test
    void measuredExecutorWithoutATaskOfTheCallDoesNotExplainTheWait() {
        measureTasks();
        waitAfterTasks();

        assertThat(DiagnosisText.title(first())).isEqualTo(RESULT);
        assertThat(first().evidence())
                .contains("tasks    in 100 of 100 samples, all tasks of the waiting call had ended");
    }

    @Test
    void executorExplainsTheWaitIfTheTasksOfTheCallMayHaveRunOnAnotherOne() {
        lookAtThreads();
        calls.pool(measured("parcels"), measured("audit"));
        waitAfterTasks();

        assertThat(DiagnosisText.title(first())).isEqualTo(PEER);
    }

    @Test
    void measuredExecutorWithATaskOfTheCallExplainsTheWait() {
        measureTasks();
        calls.calls("Desk.parcels", Phase.OWN, 400, samples -> {
            waits(samples, 10);
            samples.resultLooks++;
        });

        assertThat(DiagnosisText.title(first())).isEqualTo(PEER);
    }

    /** Adds samples of an executor whose threads are always busy with the tasks of a job. */
    private void lookAtOtherTasks() {
        StackTraceElement[] mails = {
            frame("sun.nio.ch.NioSocketImpl", "park"),
            frame("org.apache.hc.client5.http.impl.classic.CloseableHttpClient", "execute"),
            frame("depot.Alerts", "mail"),
            frame("java.util.concurrent.ThreadPoolExecutor$Worker", "run")
        };
        StackTraceElement[] sends = {
            frame("sun.nio.ch.NioSocketImpl", "park"),
            frame("org.apache.hc.client5.http.impl.classic.CloseableHttpClient", "execute"),
            frame("depot.Parcels", "send"),
            frame("java.util.concurrent.ThreadPoolExecutor$Worker", "run")
        };
        for (int i = 0; i < 20; i++) {
            tasks.add(new ThreadSnapshot(
                    "parcels-1", 9, Thread.State.WAITING, i == 0 ? sends : mails, null, null, -1, -1));
        }
    }

    /** Returns an executor with 8 busy threads. Most of its time belongs to the tasks of a job. */
    private static PoolSnapshot occupied(int queued) {
        return PoolSnapshot.builder("parcels", PoolKind.EXECUTOR, 8)
                .now(8, 0, queued)
                .counts(100, 0)
                .sums(Duration.ofSeconds(20), Duration.ofSeconds(79))
                .others(new PoolSnapshot.OtherTasks(75, Duration.ofSeconds(76), 8, "Alerts.send:25 (thread jobs-1)"))
                .settings(List.of())
                .build();
    }

    /** Adds calls that wait for a signal. In the last three of five samples, their own tasks have ended. */
    private void waitForLostSignals() {
        calls.calls("Desk.parcels", Phase.OWN, 600, samples -> {
            waits(samples, 10);
            samples.resultLooks++;
            samples.unattendedLooks += samples.resultLooks > 2 ? 1 : 0;
        });
    }

    private List<String> titles() {
        return calls.causes().stream().map(DiagnosisText::title).toList();
    }

    @Test
    void tasksOfAJobDoNotExplainTheWaitsForASignalThatIsLost() {
        lookAtOtherTasks();
        calls.pool(occupied(40));
        waitForLostSignals();

        assertThat(titles()).first().isEqualTo(RESULT);
    }

    @Test
    void waitsForALostSignalAreACauseBesideTheTasksThatOccupyTheExecutor() {
        lookAtOtherTasks();
        calls.pool(occupied(40));
        calls.usually("Desk.others", Phase.RPC, "Rates.quote at rates-1:9303", 7)
                .borrowing("Desk.others", "parcels", 400, Phase.RPC, "Rates.quote at rates-1:9303", 7, samples -> {})
                .calls("Desk.parcels", Phase.OWN, 600, samples -> {
                    waits(samples, 10);
                    samples.resultLooks++;
                });
        waitForLostSignals();

        assertThat(titles()).contains("BUSY WITH OTHER TASKS: parcels", RESULT);
    }

    @Test
    void peerOfOtherTasksIsNotTheCauseWhileNoTaskOfACallWaitsForAThread() {
        lookAtOtherTasks();
        calls.pool(occupied(0));
        calls.calls("Desk.parcels", Phase.OWN, 600, samples -> waits(samples, 10));

        assertThat(titles()).noneMatch(title -> title.startsWith("SLOW HTTP PEER"));
    }

    /** Records an operation of a thread that serves no call. Its usual time is 12 ms. */
    private void runsOutside(double nowMillis) throws InterruptedException {
        Thread thread = new Thread(
                () -> OutsideOperations.ran(Phase.HTTP, "POST sms:80/send", (long) (nowMillis * 1e6)), "parcels-3");
        thread.start();
        thread.join();
        for (int second = 0; second < SECONDS; second++) {
            calls.usualFigure(Baseline.OUTSIDE + Phase.HTTP + " POST sms:80/send", 12e6);
        }
    }

    @Test
    void usualOperationsOfThreadsThatAreSometimesIdleDoNotExplainTheWait() throws Exception {
        lookAtThreads();
        runsOutside(13);

        assertThat(titleIfThreadsWorkAt(8)).isEqualTo(RESULT);
        assertThat(first().evidence()).contains("usual    POST sms:80/send takes 13 ms, usually 12 ms");
    }

    @Test
    void slowerOperationsOfThreadsThatAreSometimesIdleExplainTheWait() throws Exception {
        lookAtThreads();
        runsOutside(60);

        assertThat(titleIfThreadsWorkAt(8)).isEqualTo(PEER);
    }

    @Test
    void threadsThatAlwaysWorkExplainTheWaitEvenIfTheirOperationsTakeTheirUsualTime() throws Exception {
        lookAtThreads();
        runsOutside(12);

        assertThat(titleIfThreadsWorkAt(10)).isEqualTo(PEER);
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void samplesOfOtherThreadsShowWhichOfThemWork() throws Exception {
        // threads with a known name are sampled even if other tests have left many threads
        StackTraceElement[] works = {frame("depot.Parcels", "send")};
        tasks.add(new ThreadSnapshot("carrier-2", 9, Thread.State.RUNNABLE, works, null, null, -1, -1));
        CompletableFuture<String> end = new CompletableFuture<>();
        Thread worker = new Thread(() -> Packages.extra(end), "carrier-1");
        worker.start();
        while (worker.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        try {
            tasks.look(Set.of(), Set.of(), false, 5);
        } finally {
            end.complete("");
            worker.join();
        }

        SampledMoments.Work work = tasks.moments().workAt(5);
        assertThat(work).isNotNull();
        assertThat(work.isBusy("carrier")).isTrue();
        assertThat(work.isBusy("parcels")).isFalse();
        assertThat(work.isKnown("parcels")).isTrue();
    }
}
