package tern.rpc.diagnosis.machine;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.List;
import jdk.jfr.FlightRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.Shop;

class FlightRecordingTest {

    private static Machine machine(double own) {
        return new Machine(2, own, 0.1, 0, 0, 0.2, null, 10e6, 10e6, List.of(), 0, null, List.of());
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.2, 1.5})
    void recorderWhoseStartSlowsDownTheProcessDoesNotStartByItself(double busyProcessors) {
        assumeFalse(FlightRecording.startsCheaply(), "another test has started the recorder, or the JVM is newer");
        Shop shop = new Shop();
        shop.diagnostician.start(true);
        shop.machine = machine(busyProcessors);
        shop.healthy(Shop.USUAL);

        for (int i = 0; i < 30; i++) {
            shop.second(100, call -> call.in(Phase.SQL, "select stock", 250));
        }

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.MISS);
        assertThat(FlightRecorder.isInitialized()).isFalse();
        shop.diagnostician.stop();
    }

    @Test
    void startOfARecordingRequestsTheRedefinitionOfClassesForHalfAMinute() {
        FlightRecording recording = new FlightRecording();
        assertThat(recording.hasRequested("RedefineClasses", 0)).isFalse();

        // Times on this clock may overflow from the largest long value to negative values.
        recording.starting(Long.MAX_VALUE);

        assertThat(recording.hasRequested("RedefineClasses", Long.MAX_VALUE + SECONDS.toNanos(29)))
                .isTrue();
        assertThat(recording.hasRequested("RedefineClasses", Long.MAX_VALUE + SECONDS.toNanos(31)))
                .isFalse();
        assertThat(recording.hasRequested("HeapDumper", Long.MAX_VALUE)).isFalse();
        assertThat(new FlightRecording().hasRequested("RedefineClasses", Long.MAX_VALUE))
                .isFalse();
    }

    @Test
    void moreThanHalfOfTheProcessorsIsBusy() {
        assertThat(machine(1.0).isBusy()).isTrue();
        assertThat(machine(0.8).isBusy()).isFalse();
        assertThat(Machine.UNKNOWN.isBusy()).isFalse();
    }
}
