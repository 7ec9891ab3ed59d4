package tern.rpc.spring.autoconfigure.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LoopWaitsTest {

    private static final int MANY = 40;

    private final LoopWaits waits = new LoopWaits();
    private long now = -5_000;
    private int last;

    private static long millis(double value) {
        return (long) (value * 1e6);
    }

    /**
     * Simulates requests on one event loop for three seconds.
     *
     * @param connections the number of connections, which send their requests in turn
     */
    private void serve(int connections, double workMillis, double pauseMillis) {
        int next = 0;
        for (long end = now + TimeUnit.SECONDS.toNanos(3); now < end; now += millis(pauseMillis)) {
            waits.worked(next++ % connections, now, now + millis(workMillis));
            now += millis(workMillis);
        }
        now -= millis(pauseMillis);
        last = (next - 1) % connections;
    }

    private void serve(double workMillis, double pauseMillis) {
        serve(MANY, workMillis, pauseMillis);
    }

    /**
     * Returns the estimated wait of the next request. The next request comes from the connection whose last request is
     * the oldest.
     */
    private long waited(double laterMillis) {
        return waits.waited((last + 1) % MANY, now + millis(laterMillis));
    }

    @Test
    void clientThatSendsOneRequestAfterTheOtherDoesNotWait() {
        serve(1, 30, 0.2);

        assertThat(waits.waited(0, now + millis(0.2))).isLessThan(millis(1));
    }

    @Test
    void twoSuchClientsWaitForOneRequestAtMost() {
        serve(2, 30, 0.2);

        assertThat(waits.waited((last + 1) % 2, now + millis(0.2))).isBetween(millis(10), millis(31));
    }

    @Test
    void rareRequestWaitsForTheRequestOfABusyClientAtMost() {
        waits.worked("rare", now, now + millis(30));
        now += millis(30);
        serve(1, 30, 0.2);

        assertThat(waits.waited("rare", now + millis(0.2))).isBetween(millis(10), millis(31));
    }

    @Test
    void requestHasNotWaitedBeforeThePreviousAnswerOnItsConnection() {
        serve(50, 2);
        waits.ended(last + 1, now);

        assertThat(waited(0.5)).isLessThan(millis(1));
    }

    @Test
    void waitOfTheFirstRequestOnAConnectionIsUnknown() {
        serve(50, 12);

        assertThat(waits.waited("new", now + millis(0.1))).isZero();
    }

    @Test
    void requestThatABlockedLoopReadsAtOnceHasWaited() {
        serve(50, 12);

        assertThat(waited(0.1)).isBetween(millis(80), millis(120));
    }

    @Test
    void requestThatFindsTheLoopIdleHasNotWaited() {
        serve(50, 12);

        assertThat(waited(5)).isZero();
    }

    @Test
    void loopThatWorksOnShortRequestsIsNotBlocked() {
        serve(2, 0.1);

        assertThat(waited(0)).isZero();
    }

    @Test
    void firstRequestHasNotWaited() {
        assertThat(waited(0)).isZero();
    }

    @Test
    void saturatedLoopHasABoundedEstimate() {
        serve(50, 0);

        assertThat(waited(0)).isLessThan(millis(500));
    }
}
