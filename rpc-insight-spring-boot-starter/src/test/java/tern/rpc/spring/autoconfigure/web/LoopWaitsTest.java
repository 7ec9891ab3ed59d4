package tern.rpc.spring.autoconfigure.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LoopWaitsTest {

    private final LoopWaits waits = new LoopWaits();
    private long now = -5_000;

    private static long millis(double value) {
        return (long) (value * 1e6);
    }

    /** Simulates requests on one event loop for three seconds. */
    private void serve(double workMillis, double pauseMillis) {
        for (long end = now + TimeUnit.SECONDS.toNanos(3); now < end; now += millis(pauseMillis)) {
            waits.worked(now, now + millis(workMillis));
            now += millis(workMillis);
        }
        now -= millis(pauseMillis);
    }

    @Test
    void requestThatABlockedLoopReadsAtOnceHasWaited() {
        serve(50, 12);

        assertThat(waits.waited(now + millis(0.1))).isBetween(millis(80), millis(120));
    }

    @Test
    void requestThatFindsTheLoopIdleHasNotWaited() {
        serve(50, 12);

        assertThat(waits.waited(now + millis(5))).isZero();
    }

    @Test
    void loopThatWorksOnShortRequestsIsNotBlocked() {
        serve(2, 0.1);

        assertThat(waits.waited(now)).isZero();
    }

    @Test
    void firstRequestHasNotWaited() {
        assertThat(waits.waited(now)).isZero();
    }

    @Test
    void saturatedLoopHasABoundedEstimate() {
        serve(50, 0);

        assertThat(waits.waited(now)).isLessThan(millis(500));
    }
}
