package tern.rpc.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

class LatencyReportTest {

    private static final Load LOAD = new Load(100, Duration.ZERO, Duration.ofSeconds(10), 1);
    private static final Target TARGET = new Target(100, Duration.ofMillis(100));
    private static final Scenario SCENARIO = Scenario.builder()
            .step("read", 1, number -> {})
            .step("write", 1, number -> {})
            .build();

    private final Tally tally = new Tally(SCENARIO, LOAD);

    @Test
    void steadyRunPasses() {
        record(0, 1_000, 5);

        LatencyReport report = LatencyReport.of(tally, TARGET);

        assertThat(report.passed()).isTrue();
        assertThat(report.total().qps()).isEqualTo(100);
        assertThat(report.total().within()).isEqualTo(1);
        assertThat(report.verdict()).isEqualTo("PASS: 100.0 QPS (target 100), p99 5.00 ms (target 100 ms), no errors");
    }

    @Test
    void slowHundredthFails() {
        record(0, 985, 5);
        record(985, 1_000, 100);

        LatencyReport report = LatencyReport.of(tally, TARGET);

        assertThat(report.misses()).containsExactly("p99 100.0 ms, expected less than 100 ms");
        assertThat(report.verdict()).startsWith("FAIL: p99 100.0 ms");
    }

    @Test
    void oneErrorFails() {
        record(0, 999, 5);
        tally.record(999, 0, 0, new RpcException(StatusCode.DEADLINE_EXCEEDED, "too late"));

        LatencyReport report = LatencyReport.of(tally, TARGET);

        assertThat(report.misses()).containsExactly("1 errors, expected none");
        assertThat(report.toText()).contains("1 × DEADLINE_EXCEEDED, the first: DEADLINE_EXCEEDED: too late");
    }

    @Test
    void callsThatNeverEndedAreErrors() {
        record(0, 900, 5);

        LatencyReport report = LatencyReport.of(tally, TARGET);

        assertThat(report.total().errors()).isEqualTo(100);
        assertThat(report.errors().get(LatencyReport.UNFINISHED).count()).isEqualTo(100);
        assertThat(report.misses()).contains("90.0 QPS, expected 100.0");
    }

    @Test
    void answersLongAfterTheEndLowerTheThroughput() {
        record(0, 999, 5);
        tally.record(999, 0, Duration.ofSeconds(10).toNanos(), null);

        assertThat(LatencyReport.of(tally, TARGET).total().qps()).isBetween(50.0, 51.0);
    }

    @Test
    void runWithoutAnswersFailsInEveryRespect() {
        LatencyReport report = LatencyReport.of(tally, TARGET);

        assertThat(report.misses()).hasSize(3);
        assertThat(report.toText()).contains("FAIL: ");
    }

    @Test
    void distributionCountsEveryCallOnce() {
        record(0, 700, 1);
        record(700, 999, 5);
        tally.record(999, 0, Duration.ofMillis(300).toNanos(), null);

        List<LatencyReport.Bucket> buckets = LatencyReport.of(tally, TARGET).distribution();

        assertThat(buckets).extracting(LatencyReport.Bucket::calls).containsExactly(700L, 299L, 1L);
        assertThat(buckets)
                .extracting(LatencyReport.Bucket::upToMillis)
                .satisfiesExactly(
                        first -> assertThat(first).isBetween(1.0, 1.25),
                        second -> assertThat(second).isBetween(5.0, 6.25),
                        third -> assertThat(third).isBetween(300.0, 375.0));
    }

    @Test
    void tableHasALinePerStepAndTheTotal() {
        for (int number = 0; number < 1_000; number++) {
            tally.record(
                    number,
                    number % 2,
                    Duration.ofMillis(number % 2 == 0 ? 1 : 2).toNanos(),
                    null);
        }

        String text = LatencyReport.of(tally, TARGET).toText();

        assertThat(text.lines())
                .contains(
                        "         calls      QPS      p50      p90      p99    p99.9      max  errors  within 100 ms",
                        "read       500     50.0     1.00     1.00     1.00     1.00     1.00       0       100.00 %",
                        "write      500     50.0     2.00     2.00     2.00     2.00     2.00       0       100.00 %",
                        "total     1000    100.0     1.00     2.00     2.00     2.00     2.00       0       100.00 %");
    }

    @Test
    void progressLineDescribesOneSecond() {
        record(0, 100, 5);
        tally.second(Duration.ofSeconds(1));
        record(100, 200, 7);

        assertThat(tally.second(Duration.ofSeconds(2)).toText())
                .isEqualTo("   2 s    100 calls   p50    7.00 ms   p99    7.00 ms   max    7.00 ms   errors 0");
    }

    private void record(int from, int to, int millis) {
        for (int number = from; number < to; number++) {
            tally.record(number, 0, Duration.ofMillis(millis).toNanos(), null);
        }
    }
}
