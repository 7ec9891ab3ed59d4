package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Packages;
import shop.Parcels;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/**
 * Tests calls waiting for tasks of an executor whose state Tern does not measure, because the executor is not a bean.
 */
class UnknownExecutorsTest {

    private static final int LOOKS = 5;

    private final CompletableFuture<String> answer = new CompletableFuture<>();
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final ExecutorService parcels = Executors.newFixedThreadPool(2, task -> {
        Thread thread = new Thread(task, "parcels-" + threads.size());
        threads.add(thread);
        return thread;
    });

    @AfterEach
    void endTasks() throws InterruptedException {
        answer.complete("");
        parcels.shutdown();
        parcels.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** Returns samples of the executor's threads while the given number of them call a peer. */
    private TaskWatch samples(int busy) {
        AtomicInteger begun = new AtomicInteger();
        for (int i = 0; i < 2; i++) {
            boolean asks = i < busy;
            parcels.execute(() -> {
                begun.incrementAndGet();
                if (asks) {
                    Packages.extra(answer);
                }
            });
        }
        while (begun.get() < 2 || threads.stream().anyMatch(thread -> thread.getState() != Thread.State.WAITING)) {
            Thread.onSpinWait();
        }
        TaskWatch tasks = new TaskWatch();
        for (int look = 1; look <= LOOKS; look++) {
            tasks.look(Set.of(Thread.currentThread().getId()), Set.of(), false, TimeUnit.SECONDS.toNanos(look));
        }
        return tasks;
    }

    private static void look(SampledCall samples, String waitsIn) {
        StackTraceElement[] stack = {
            new StackTraceElement(waitsIn, waitsIn.endsWith("Impl") ? "waitFor" : "get", null, 1),
            new StackTraceElement("shop.Packages", "of", "Packages.java", 14)
        };
        samples.add(SampledCalls.sample(
                Phase.OWN, new ThreadSnapshot("http-1", 1, Thread.State.WAITING, stack, null, null, -1, -1)));
    }

    /**
     * Simulates twenty calls that waited for 240 ms each and ended within the given time. Returns the cause that the
     * diagnosis names first.
     */
    private Cause first(int busy, double seconds) {
        return first(busy, seconds, "java.util.concurrent.FutureTask");
    }

    private Cause first(int busy, double seconds, String waitsIn) {
        return new SampledCalls()
                .calls("Parcels.list", Phase.OWN, 240, samples -> look(samples, waitsIn))
                .tasks(samples(busy))
                .during(seconds)
                .causes()
                .get(0);
    }

    @Test
    void executorIsTooSmallIfCallsWaitMuchLongerThanATaskTakes() {
        Cause first = first(2, 0.5); // With two threads and 40 calls per second, a task takes 50 ms.

        assertThat(DiagnosisText.title(first)).isEqualTo("EXECUTOR TOO SMALL: parcels");
        assertThat(first.change().text())
                .startsWith("use about 6 threads instead of 2, or shorter tasks, for the executor")
                .contains("all of its 2 threads are busy, mostly waiting for a peer in Packages.extra")
                .contains("about 10 calls wait for them in Packages.of:14");
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.contains("Packages.of waits for a thread of parcels"));
    }

    @Test
    void fieldOfTheExecutorAndTheMethodThatSubmitsAreNamed() throws InterruptedException {
        ThreadPoolExecutor executor = Parcels.start(answer);
        while (Parcels.threads().size() < 2
                || Parcels.threads().stream().anyMatch(thread -> thread.getState() != Thread.State.WAITING)) {
            Thread.onSpinWait();
        }
        try {
            TaskWatch tasks = new TaskWatch();
            for (int look = 1; look <= LOOKS; look++) {
                tasks.look(Set.of(Thread.currentThread().getId()), Set.of(), false, TimeUnit.SECONDS.toNanos(look));
            }
            Cause first = new SampledCalls()
                    .calls("Parcels.list", Phase.OWN, 240, samples -> look(samples, "java.util.concurrent.FutureTask"))
                    .tasks(tasks)
                    .during(0.5)
                    .causes()
                    .get(0);

            assertThat(DiagnosisText.title(first)).isEqualTo("EXECUTOR TOO SMALL: boxes");
            assertThat(first.change().text()).contains("threads are named \"boxes\" (field Parcels.BOXES)");
            assertThat(first.evidence())
                    .contains(
                            "executor field Parcels.BOXES: 2 of 2 threads busy, 3 tasks wait",
                            "tasks    submitted in Parcels.start");
        } finally {
            answer.complete("");
            executor.shutdown();
            executor.awaitTermination(1, TimeUnit.MINUTES);
        }
    }

    @Test
    void workOfTasksIsTheCauseIfATaskMissesTheTargetByItself() {
        Cause first = first(2, 2); // With two threads and 10 calls per second, a task takes 200 ms.

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW HTTP PEER: called in Packages.extra");
    }

    @Test
    void workOfTasksIsTheCauseIfThreadsAreIdle() {
        Cause first = first(1, 0.5);

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW HTTP PEER: called in Packages.extra");
    }

    @Test
    void noExecutorExplainsAWaitForAnotherProgram() {
        Cause first = first(2, 0.5, "java.lang.ProcessImpl");

        assertThat(DiagnosisText.title(first)).doesNotContain("parcels").doesNotContain("Packages.extra");
        assertThat(first.change().text()).doesNotContain("parcels").doesNotContain("Packages.extra");
    }
}
