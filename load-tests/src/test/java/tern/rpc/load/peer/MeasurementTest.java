package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class MeasurementTest {

    @Test
    void writtenLineIsReadBack() {
        Histogram latencies = Load.newHistogram();
        latencies.recordValueWithCount(5_000_000, 42);
        ProcessCost cost = new ProcessCost(1, 2, ProcessCost.UNKNOWN, 4);

        String line = Measurement.line(new Load.Ran(3, "it\nbroke  twice", 2_000_000_000L, cost, latencies));
        Measurement read = Measurement.ofClient(line);

        assertThat(line).doesNotContain("\n");
        assertThat(read.errors()).isEqualTo(3);
        assertThat(read.firstError()).isEqualTo("it broke twice");
        assertThat(read.seconds()).isEqualTo(2);
        assertThat(read.client()).isEqualTo(cost);
        assertThat(read.latencies()).isEqualTo(latencies);
    }

    @Test
    void twoClientsAreOneMeasurement() {
        Measurement both = Measured.round(10, 2, 0).and(Measured.round(30, 2, 0));

        assertThat(both.calls()).isEqualTo(40);
        assertThat(both.client().cpuNanos()).isEqualTo(80_000);
        assertThat(both.client().switches()).isEqualTo(ProcessCost.UNKNOWN);
        assertThat(both.seconds()).isEqualTo(2);
    }

    @Test
    void everyCallIsRecordedAndWrongAnswersAreCounted() throws InterruptedException {
        AtomicInteger calls = new AtomicInteger();
        SceneCall call = () -> {
            int number = calls.incrementAndGet();
            if (number == 2) {
                throw new IllegalStateException("broken");
            }
            return number != 1;
        };

        Load.Ran ran = new Load(1, 1_000, new ProcessMeter()).run(caller -> call);

        assertThat(ran.latencies().getTotalCount()).isEqualTo(calls.get());
        assertThat(ran.errors()).isEqualTo(2);
        assertThat(ran.firstError()).isEqualTo("an answer was wrong");
        assertThat(ran.cost().cpuNanos()).isPositive();
        assertThat(ran.cost().bytes()).isPositive();
    }
}
