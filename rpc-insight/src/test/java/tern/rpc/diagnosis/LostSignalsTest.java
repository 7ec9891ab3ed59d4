package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.Hints;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests calls waiting for a signal from another thread. */
class LostSignalsTest {

    private static final int LOOKS = 10;

    private final TaskWatch tasks = new TaskWatch();

    private static StackTraceElement frame(String type, String method) {
        return new StackTraceElement(type, method, null, 7);
    }

    /** Reads a sample of a call waiting for a signal. */
    private static void waits(SampledCall samples) {
        Part wait = new Part(Part.Kind.RESULT, "Confirmations.await");
        List<StackTraceElement> path = List.of(frame("depot.Confirmations", "await"));
        samples.add(new Sample(0, Phase.OWN, wait, path, "Object.wait", null, null, false, null, -1, -1));
    }

    /** Adds samples of the signaling thread. In some of the samples, the thread uses HTTP. */
    private void lookAtWorker(int busy) {
        for (int i = 0; i < LOOKS; i++) {
            StackTraceElement[] idle = {
                frame("jdk.internal.misc.Unsafe", "park"),
                frame("java.util.concurrent.LinkedBlockingQueue", "take"),
                frame("depot.Confirmations", "work")
            };
            StackTraceElement[] sends = {
                frame("sun.nio.ch.NioSocketImpl", "park"),
                frame("org.apache.hc.client5.http.impl.classic.CloseableHttpClient", "execute"),
                frame("depot.Confirmations", "work")
            };
            tasks.add(new ThreadSnapshot(
                    "confirmer", 9, Thread.State.WAITING, i < busy ? sends : idle, null, null, -1, -1));
        }
    }

    private String title() {
        List<Cause> causes = new SampledCalls()
                .tasks(tasks)
                .calls("Desk.book", Phase.OWN, 400, LostSignalsTest::waits)
                .causes();
        return DiagnosisText.title(causes.get(0));
    }

    @Test
    void threadThatIsMostlyIdleHasLostTheSignal() {
        lookAtWorker(3);

        assertThat(title()).isEqualTo("WAITS FOR A RESULT: Confirmations.await");
    }

    @Test
    void threadThatIsMostlyBusyIsAwaited() {
        lookAtWorker(8);

        assertThat(title()).isEqualTo("SLOW HTTP PEER: called in Confirmations.work");
    }

    @Test
    void waitsThatEndAfterTheSameTimeAreShown() {
        lookAtWorker(3);
        SampledCalls equal = new SampledCalls().tasks(tasks).calls("Desk.book", Phase.OWN, 400, LostSignalsTest::waits);

        assertThat(equal.causes().get(0).evidence())
                .contains("equal    20 of 20 waits take about 400 ms, as if a timeout or a fixed delay ended them");
    }

    @Test
    void resultThatNeverComesHasTheThreadThatCompletesSuchResults() {
        lookAtWorker(0);
        SampledCalls equal = new SampledCalls().tasks(tasks).calls("Desk.book", Phase.OWN, 400, samples -> {
            Part wait = new Part(Part.Kind.RESULT, "Confirmations.await");
            List<StackTraceElement> path = List.of(frame("depot.Confirmations", "await"));
            samples.add(new Sample(0, Phase.OWN, wait, path, "CompletableFuture.get", null, null, false, null, -1, -1));
        });

        assertThat(equal.causes().get(0).change().text())
                .startsWith("find out why nothing completes this result")
                .contains(
                        "if the wait has a timeout, the result probably never comes: 20 of 20 waits take about 400 ms")
                .contains("thread confirmer in Confirmations.work")
                .doesNotContain("more threads");
    }

    @Test
    void waitsOfDifferentDurationsAreNotEndedByATimeout() {
        lookAtWorker(3);
        SampledCalls different = new SampledCalls()
                .tasks(tasks)
                .calls("Desk.book", Phase.OWN, 400, LostSignalsTest::waits)
                .calls("Desk.book", Phase.OWN, 300, LostSignalsTest::waits);

        assertThat(different.causes().get(0).evidence()).noneMatch(line -> line.startsWith("equal"));
    }

    @Test
    void adviceAboutNotifyIsForMonitorsAndConditionsOnly() {
        assertThat(Hints.result("Object.wait")).contains("notifyAll, signalAll instead of notify, signal");
        assertThat(Hints.result("ConditionObject.await")).contains("notifyAll");
        assertThat(Hints.result("CountDownLatch.await"))
                .startsWith("give this signal in a finally block")
                .doesNotContain("notify");
    }

    private Cause firstWithFailedTasks(int failed) {
        lookAtWorker(4);
        return new SampledCalls()
                .tasks(tasks)
                .pool(PoolSnapshot.builder("confirmer", PoolKind.EXECUTOR, 1)
                        .now(0, 1, 0)
                        .counts(100, 0)
                        .failures(failed, "NumberFormatException in Menu.price:9")
                        .build())
                .calls("Desk.book", Phase.OWN, 400, LostSignalsTest::waits)
                .causes()
                .get(0);
    }

    @Test
    void failuresOfTheTasksThatShouldGiveTheSignalAreNamed() {
        assertThat(firstWithFailedTasks(18).change().text())
                .startsWith("find out why tasks fail before they complete this result: 18 tasks of \"confirmer\""
                        + " ended with"
                        + " NumberFormatException in Menu.price:9; give this signal in a finally block");
    }

    @Test
    void fewFailedTasksDoNotExplainTheWaitsOfManyCalls() {
        assertThat(firstWithFailedTasks(3).change().text()).startsWith("give this signal in a finally block");
    }
}
