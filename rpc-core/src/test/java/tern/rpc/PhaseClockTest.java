package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PhaseClockTest {

    private final PhaseClock phases = new PhaseClock(() -> 0, 0, Phase.OWN);

    @Test
    void theNumberOfOperationsStopsAtItsMaximum() {
        for (int i = 0; i < PhaseClock.MAX_COUNT + 2; i++) {
            phases.count(Phase.REDIS);
        }
        phases.count(Phase.SQL);

        assertThat(phases.counted(Phase.REDIS)).isEqualTo(PhaseClock.MAX_COUNT);
        assertThat(phases.counted(Phase.SQL)).isOne();
    }

    @Test
    void operationsAfterTheEndOfTheCallAreNotCounted() {
        phases.count(Phase.SQL);
        phases.keep(0);

        phases.count(Phase.SQL);

        assertThat(phases.counted(Phase.SQL)).isOne();
    }
}
