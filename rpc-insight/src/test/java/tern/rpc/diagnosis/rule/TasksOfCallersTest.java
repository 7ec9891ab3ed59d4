package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests calls that run the tasks of a full executor themselves. */
class TasksOfCallersTest {

    /** Returns a full executor with a caller-runs policy, whose tasks take the given time. */
    private static PoolSnapshot notices(int taskMillis) {
        return PoolSnapshot.builder("noticeExecutor", PoolKind.EXECUTOR, 2)
                .now(2, 0, 6)
                .counts(120, 0)
                .sums(Duration.ZERO, Duration.ofMillis(120L * taskMillis))
                .settings(List.of())
                .build();
    }

    /** Returns a sample of a thread that looks up a host name. */
    private static Consumer<SampledCall> lookup(boolean ranRejectedTask) {
        StackTraceElement line = new StackTraceElement("shop.EdiGateway", "exchange", "EdiGateway.java", 30);
        Part part = new Part(Part.Kind.RESOLVER, "EdiGateway.exchange");
        return samples -> {
            samples.ranRejectedTask = ranRejectedTask;
            samples.add(new Sample(
                    samples.list.size(), Phase.OWN, part, List.of(line), null, null, null, false, null, -1, -1));
        };
    }

    private static Cause first(SampledCalls calls) {
        return calls.calls("OrderService.place", Phase.OWN, 4_000, lookup(true))
                .causes()
                .get(0);
    }

    @Test
    void workOfTasksThatHaveBecomeSlowerIsTheCause() {
        Cause first = first(new SampledCalls().pool(notices(583), 9.6));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW NAME LOOKUP: EdiGateway.exchange");
        assertThat(first.change().text())
                .contains("because \"noticeExecutor\" is full and has the policy caller-runs")
                .contains("a policy that refuses or drops tasks, or a longer queue");
    }

    @Test
    void workThatCallsDoWithoutAnExecutorHasNothingToDoWithItsPolicy() {
        Cause first = new SampledCalls()
                .pool(notices(583), 9.6)
                .calls("OrderService.place", Phase.OWN, 4_000, lookup(false))
                .causes()
                .get(0);

        assertThat(first.change().text()).doesNotContain("caller-runs");
    }

    /** The executor is no longer full when the causes are found. */
    @Test
    void executorIsNamedAfterTheLedgersOfTheCallsThatRanItsTasks() {
        PoolSnapshot idle = PoolSnapshot.builder("noticeExecutor", PoolKind.EXECUTOR, 2)
                .now(0, 2, 0)
                .counts(120, 0)
                .sums(Duration.ZERO, Duration.ofSeconds(60))
                .settings(List.of())
                .build();
        Cause first = new SampledCalls()
                .pool(idle, 500)
                .running("noticeExecutor")
                .calls("OrderService.place", Phase.OWN, 4_000, lookup(true))
                .causes()
                .get(0);

        assertThat(first.title()).isEqualTo("CALLER RUNS: noticeExecutor");
        assertThat(first.change().text()).contains("use a rejection policy other than caller-runs");
    }

    @Test
    void workThatIsAlsoSlowInCallsWithoutTasksIsTheCause() {
        Cause first = first(new SampledCalls()
                .pool(notices(20), 20)
                .calls("DeliveryService.window", Phase.OWN, 4_000, lookup(false)));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW NAME LOOKUP: EdiGateway.exchange");
    }

    @Test
    void fullExecutorWhoseTasksTakeTheirUsualTimeIsTheCause() {
        assertThat(first(new SampledCalls().pool(notices(583), 560)).title()).isEqualTo("CALLER RUNS: noticeExecutor");
    }
}
