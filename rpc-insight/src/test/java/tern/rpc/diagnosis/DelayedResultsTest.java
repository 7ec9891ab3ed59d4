package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;

/** Tests calls that wait for results which a timer's task completes after a fixed delay. */
class DelayedResultsTest {

    /** Collects questions and sends them together. */
    private static final class Batches {
        @SuppressWarnings("unused") // the diagnosis finds the field by reflection
        private @Nullable ScheduledExecutorService clock;
    }

    private static Sample sample(String type, String called) {
        Part wait = new Part(Part.Kind.RESULT, "Batches.score");
        List<StackTraceElement> path = List.of(
                new StackTraceElement(type, "score", null, 22), new StackTraceElement("desk.Desk", "ask", null, 9));
        return new Sample(0, Phase.OWN, wait, path, called, null, null, false, null, -1, -1);
    }

    private static void waitsForBatch(SampledCall call) {
        call.add(sample(Batches.class.getName(), "CompletableFuture.get"));
    }

    private static void waitsElsewhere(SampledCall call) {
        call.add(sample("depot.Batches", "CompletableFuture.get"));
    }

    private static void waitsWithoutLimit(SampledCall call) {
        call.add(sample("depot.Batches", "CompletableFuture.join"));
        call.untimedLooks++;
    }

    private static Cause first(SampledCalls calls) {
        return calls.causes().get(0);
    }

    @Test
    void schedulerOfTheWaitingClassIsNamedIfAllWaitsTakeTheSameTime() {
        Cause first = first(new SampledCalls().calls("Desk.score", Phase.OWN, 250, DelayedResultsTest::waitsForBatch));

        assertThat(DiagnosisText.title(first)).isEqualTo("WAITS FOR A RESULT: Batches.score");
        assertThat(first.change().text())
                .startsWith("use a shorter delay or period for the task that completes this result")
                .contains("the scheduler in the field ")
                .contains("Batches.clock, or do its work at once")
                .contains("20 of 20 waits take about 250 ms and end without a failure")
                .contains("if the wait itself has this time limit")
                .doesNotContain("find out why nothing completes this result in time");
        assertThat(first.evidence()).anyMatch(line -> line.startsWith("equal    20 of 20 waits take about 250 ms"));
    }

    @Test
    void equalWaitsThatFailAreEndedByTheirTimeout() {
        Cause first = first(new SampledCalls()
                .failing(new TimeoutException())
                .calls("Desk.score", Phase.OWN, 250, DelayedResultsTest::waitsForBatch));

        assertThat(first.change().text()).doesNotContain("shorter delay");
    }

    @Test
    void equalWaitsWithoutATimeLimitEndWithTheResult() {
        assertThat(first(new SampledCalls().calls("Desk.score", Phase.OWN, 250, DelayedResultsTest::waitsWithoutLimit))
                        .change()
                        .text())
                .startsWith("shorten the fixed delay after which this result is completed")
                .contains("a batch (linger)")
                .doesNotContain("never comes")
                .doesNotContain("time limit");
    }

    @Test
    void equalWaitsOfAClassWithoutASchedulerMayBeTimeouts() {
        assertThat(first(new SampledCalls().calls("Desk.score", Phase.OWN, 250, DelayedResultsTest::waitsElsewhere))
                        .change()
                        .text())
                .startsWith("find out why nothing completes this result in time")
                .contains("if the wait has a timeout, the result probably never comes");
    }

    @Test
    void schedulerIsNotNamedIfWaitsTakeDifferentTimes() {
        Cause first = first(new SampledCalls()
                .calls("Desk.score", Phase.OWN, 250, DelayedResultsTest::waitsForBatch)
                .calls("Desk.score", Phase.OWN, 340, DelayedResultsTest::waitsForBatch));

        assertThat(first.change().text()).doesNotContain("Batches.clock");
    }

    @Test
    void resultsOfAsynchronousMethodsThatAlwaysTakeTheSameTimeHaveAFixedDelay() {
        Cause first = first(new SampledCalls().calls("Desk.issue", Phase.UNATTRIBUTED, 300, call -> {}));

        assertThat(DiagnosisText.title(first)).isEqualTo("OTHER THREADS: asynchronous work");
        assertThat(first.change().text())
                .startsWith("shorten the fixed delay after which the result of Desk.issue is completed")
                .contains("completeOnTimeout")
                .contains("20 of 20 waits take about 300 ms and end without a failure");
        assertThat(first.evidence()).anyMatch(line -> line.startsWith("equal    20 of 20 waits take about 300 ms"));
    }

    @Test
    void resultsOfAsynchronousMethodsThatTakeDifferentTimesHaveNoFixedDelay() {
        Cause first = first(new SampledCalls()
                .calls("Desk.issue", Phase.UNATTRIBUTED, 300, call -> {})
                .calls("Desk.issue", Phase.UNATTRIBUTED, 380, call -> {}));

        assertThat(first.change().text()).doesNotContain("fixed delay");
    }
}
