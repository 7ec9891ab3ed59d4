package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DelayTest {

    @Test
    void waitsForAProcessorTakeNoMoreThanTheyMayTakeAfterEachTimeSlice() {
        assertThat(new Machine.Delay(4.5e6, 0.6e6, 9, 1, true).share()).isEqualTo(0.6);
        assertThat(new Machine.Delay(12e6, 0.6e6, 1, 1, true).share()).isEqualTo(0.5);
    }
}
