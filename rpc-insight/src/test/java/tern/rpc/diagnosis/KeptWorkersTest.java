package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;

/** Tests calls that keep their workers while they wait for a result. */
class KeptWorkersTest {

    private static void look(SampledCall samples) {
        StackTraceElement line = new StackTraceElement("depot.Board", "await", "Board.java", 11);
        Part wait = new Part(Part.Kind.RESULT, "Board.await");
        samples.add(new Sample(0, Phase.OWN, wait, List.of(line), null, null, null, false, null, -1, -1));
    }

    private static String change(double queuedMillis) {
        Cause first = new SampledCalls()
                .queued("Desk.await", queuedMillis, 600, KeptWorkersTest::look)
                .causes()
                .get(0);
        assertThat(DiagnosisText.title(first)).isEqualTo("WAITS FOR A RESULT: Board.await");
        return first.change().text();
    }

    @Test
    void methodThatWaitsForAResultMayReturnAFutureIfOtherCallsWaitForWorkers() {
        assertThat(change(300))
                .contains("calls of Desk.await keep their workers while they wait")
                .contains("a CompletableFuture that is completed later")
                .contains("max-concurrency");
    }

    @Test
    void workersAreNotMentionedIfNoCallWaitsForThem() {
        assertThat(change(0)).doesNotContain("workers");
    }
}
