package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PingPaceTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final PingPace pace = new PingPace();

    @Test
    void threeQuickOnesAreAllowedAndThenOneEveryFiveMinutes() {
        assertThat(pace.take(5 * SECOND)).isTrue();
        assertThat(pace.take(10 * SECOND)).isTrue();
        assertThat(pace.take(15 * SECOND)).isTrue();
        assertThat(pace.take(20 * SECOND)).isFalse();
        assertThat(pace.take(315 * SECOND)).isFalse();
        assertThat(pace.take(326 * SECOND)).isTrue();
        assertThat(pace.take(331 * SECOND)).isFalse();
        assertThat(pace.take(637 * SECOND)).isTrue();
    }

    @Test
    void dataOfTheServerResetsTheCount() {
        for (int i = 0; i < 4; i++) {
            pace.take(i);
        }
        assertThat(pace.take(5)).isFalse();

        pace.moved();

        assertThat(pace.take(6)).isTrue();
    }
}
