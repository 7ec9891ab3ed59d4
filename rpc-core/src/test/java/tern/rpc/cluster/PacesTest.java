package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Tests the limits on how often a changed provider list is applied and on how many connections are opened per second.
 */
class PacesTest {

    private static final long TICK = TimeUnit.MILLISECONDS.toNanos(1);

    @Test
    void firstChangePassesAtOnceAndTheGapGrowsToASecond() {
        Coalescing coalescing = new Coalescing();
        long now = -7;
        long[] gaps = {0, 100, 200, 400, 800, 1_000, 1_000};
        for (long gap : gaps) {
            long delay = coalescing.delay(now);
            assertThat(delay).isEqualTo(gap * TICK);
            now += delay;
            coalescing.passed(now);
        }
    }

    @Test
    void changeAfterAQuietTimePassesAtOnceAgain() {
        Coalescing coalescing = new Coalescing();
        coalescing.passed(0);
        coalescing.passed(100 * TICK);

        assertThat(coalescing.delay(1_400 * TICK)).isZero();
        coalescing.passed(1_400 * TICK);
        assertThat(coalescing.delay(1_401 * TICK)).isEqualTo(99 * TICK);
    }

    @Test
    void twentyConnectionsAreOpenedAtOnceAndFiftyASecondAfterwards() {
        TokenBucket pace = new TokenBucket(20, 50, 0);
        int opened = 0;
        while (pace.take(0)) {
            opened++;
        }
        assertThat(opened).isEqualTo(20);

        for (long now = 0; now <= 1_000 * TICK; now += TICK) {
            opened += pace.take(now) ? 1 : 0;
        }
        assertThat(opened).isBetween(69, 71);
    }
}
