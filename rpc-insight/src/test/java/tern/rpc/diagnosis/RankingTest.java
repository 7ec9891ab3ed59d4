package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests the order of causes. */
class RankingTest {

    private static final ThreadSnapshot MODERATES = new ThreadSnapshot(
            "http-1",
            1,
            Thread.State.RUNNABLE,
            new StackTraceElement[] {new StackTraceElement("shop.Reviews", "moderate", "Reviews.java", 34)},
            null,
            null,
            -1,
            -1);

    @Test
    void sampledWorkComesBeforeUnexplainedTimeThatIsShorter() {
        AtomicInteger looks = new AtomicInteger();
        List<Cause> causes = new SampledCalls()
                .calls("Reviews.add", Phase.OWN, 320, samples -> {
                    if (looks.incrementAndGet() <= 4) {
                        samples.add(SampledCalls.sample(Phase.OWN, MODERATES));
                    }
                })
                .calls("Loans.list", Phase.OWN, 260, samples -> {})
                .causes();

        assertThat(causes).extracting(DiagnosisText::title).first().isEqualTo("CODE COMPUTES: Reviews.moderate");
        assertThat(causes).extracting(Cause::kind).contains("UNEXPLAINED");
    }

    /** Returns calls that run a statement. Few samples of these calls show code. */
    private static List<Cause> codeAndStatement(double ownMillis, double statementMillis) {
        AtomicInteger looks = new AtomicInteger();
        return new SampledCalls()
                .running("Reviews.add", "select stock", statementMillis, ownMillis, samples -> {
                    if (looks.incrementAndGet() <= 4) {
                        samples.add(SampledCalls.sample(Phase.OWN, MODERATES));
                    }
                })
                .causes();
    }

    @Test
    void longerWorkInFewSamplesComesBeforeAShorterStatement() {
        assertThat(codeAndStatement(210, 90))
                .extracting(DiagnosisText::title)
                .startsWith("CODE COMPUTES: Reviews.moderate");
    }

    @Test
    void longerStatementComesBeforeShorterWork() {
        assertThat(codeAndStatement(90, 210))
                .extracting(DiagnosisText::title)
                .startsWith("SLOW STATEMENT: select stock");
    }

    @Test
    void causeOfManyCallsIsNamedAlthoughOtherCallsAreMuchLonger() {
        List<Cause> causes = new SampledCalls()
                .running("Hub.list", "select partner", 9_000, 1, samples -> {})
                .running("Desk.find", "select desk", 150, 1, samples -> {})
                .causes();

        assertThat(causes)
                .extracting(DiagnosisText::title)
                .containsExactly("SLOW STATEMENT: select partner", "SLOW STATEMENT: select desk");
    }
}
