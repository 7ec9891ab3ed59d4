package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class OutcomeTest {

    @Test
    void medianIsTheMiddleOrTheMeanOfTwo() {
        assertThat(Outcome.median(3, 1, 2)).isEqualTo(2);
        assertThat(Outcome.median(4, 1, 2, 3)).isEqualTo(2.5);
        assertThat(Outcome.median()).isNaN();
    }

    @Test
    void figuresArePerCallAndMediansOfTheRounds() {
        Outcome outcome = new Outcome(
                List.of(Measured.round(1_000, 20, 10), Measured.round(2_000, 50, 20), Measured.round(4_000, 22, 12)),
                "");

        assertThat(outcome.clientMicros()).isEqualTo(22);
        assertThat(outcome.serverMicros()).isEqualTo(12);
        assertThat(outcome.sumMicros()).isEqualTo(34);
        assertThat(outcome.leastSumMicros()).isEqualTo(30);
        assertThat(outcome.mostSumMicros()).isEqualTo(70);
        assertThat(outcome.clientBytes()).isEqualTo(100);
        assertThat(outcome.serverBytes()).isEqualTo(300);
        assertThat(outcome.clientWrites()).isEqualTo(0.25);
        assertThat(outcome.serverSwitches()).isEqualTo(2);
        assertThat(outcome.perSecond()).isEqualTo(1_000);
    }

    @Test
    void missingFigureIsNaN() {
        Outcome outcome = new Outcome(List.of(Measured.round(10, 1, 1)), "");

        assertThat(outcome.clientSwitches()).isNaN();
        assertThat(ResultTable.cells(outcome, outcome)).contains("n/a");
    }

    @Test
    void ratioIsOursToTheirs() {
        Outcome ours = new Outcome(List.of(Measured.round(10, 10, 5)), "");
        Outcome theirs = new Outcome(List.of(Measured.round(10, 40, 20)), "");

        assertThat(ours.ratioTo(theirs)).isEqualTo(0.25);
        assertThat(ours.ratioTo(new Outcome(List.of(), "did not start"))).isNaN();
    }

    @Test
    void percentilesAreOfAllCalls() {
        Histogram latencies = Load.newHistogram();
        for (int millis = 1; millis <= 1_000; millis++) {
            latencies.recordValue(millis * 1_000_000L);
        }
        Outcome outcome =
                new Outcome(List.of(new Measurement(0, "", 1, ProcessCost.NONE, ProcessCost.NONE, latencies)), "");

        assertThat(outcome.meanMillis()).isCloseTo(500, within(5.0));
        assertThat(outcome.millisAt(50)).isCloseTo(500, within(5.0));
        assertThat(outcome.millisAt(99)).isCloseTo(990, within(10.0));
        assertThat(outcome.millisAt(99.9)).isCloseTo(999, within(10.0));
        assertThat(outcome.maxMillis()).isCloseTo(1_000, within(10.0));
        assertThat(outcome.latencies().getTotalCount()).isEqualTo(1_000);
    }

    @Test
    void percentileIsPlacedByItsNumberOfNines() {
        assertThat(LatencyCharts.nines(0)).isZero();
        assertThat(LatencyCharts.nines(90)).isCloseTo(1, within(1e-9));
        assertThat(LatencyCharts.nines(99.99)).isCloseTo(4, within(1e-9));
    }

    @Test
    void decadesOfALogarithmicScaleAreEquallyWide() {
        LogScale scale = LogScale.around(0.3, 42, 0, 300);

        assertThat(scale.decades()).hasSize(4);
        assertThat(scale.at(0.1)).isZero();
        assertThat(scale.at(1)).isCloseTo(100, within(1e-9));
        assertThat(scale.at(10)).isCloseTo(200, within(1e-9));
        assertThat(scale.at(5_000)).isCloseTo(300, within(1e-9));
    }
}
