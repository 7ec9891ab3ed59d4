package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LastMinuteTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    @Test
    void callsOfAboutAMinuteAreCounted() {
        long now = -7;
        LastMinute minute = new LastMinute(now);
        for (int i = 1; i <= 600; i++) {
            now += SECOND;
            assertThat(minute.of(10L * i, now)).isBetween(10L * Math.min(i, 50), 10L * Math.min(i, 60));
        }
    }

    @Test
    void callsBeforeAPauseOfAMinuteAreForgotten() {
        LastMinute minute = new LastMinute(0);
        assertThat(minute.of(100, SECOND)).isEqualTo(100);

        assertThat(minute.of(100, 9 * SECOND)).isEqualTo(100);
        assertThat(minute.of(100, 3_600 * SECOND)).isZero();
        assertThat(minute.of(103, 3_601 * SECOND)).isEqualTo(3);
    }
}
