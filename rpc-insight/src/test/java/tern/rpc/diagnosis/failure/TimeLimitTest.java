package tern.rpc.diagnosis.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;

class TimeLimitTest {

    private static boolean endsAfter(Duration limit, double millis) {
        return new TimeLimit(Phase.REDIS, "spring.data.redis.timeout", limit).mayEnd(Phase.REDIS, millis * 1e6);
    }

    @Test
    void limitMayEndOperationsThatTakeAboutAsLong() {
        assertThat(endsAfter(Duration.ofMillis(1_500), 1_400)).isTrue();
        assertThat(endsAfter(Duration.ofMillis(1_500), 1_900)).isTrue();
        assertThat(endsAfter(Duration.ofMillis(1_500), 1_200)).isFalse();
        assertThat(endsAfter(Duration.ofMillis(1_500), 2_100)).isFalse();
    }

    /** Some applications disable a limit by setting it to the largest number. */
    @Test
    void largestLimitEndsNoOperation() {
        assertThat(endsAfter(Duration.ofMillis(Long.MAX_VALUE), 100)).isFalse();
        assertThat(endsAfter(ChronoUnit.FOREVER.getDuration(), 100)).isFalse();
    }
}
