package tern.rpc.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MethodMinuteTest {

    private final MethodMinute minute = new MethodMinute(TimeUnit.MILLISECONDS.toNanos(100));

    private void call(long second, long millis, boolean failed) {
        minute.ended(TimeUnit.MILLISECONDS.toNanos(millis), failed, second);
    }

    @Test
    void methodWithoutCallsHasNoMinute() {
        assertThat(minute.sum(1_000)).isNull();
    }

    @Test
    void minuteHasCountsAndTimes() {
        for (int i = 0; i < 98; i++) {
            call(1_000 + i % 60, 10, false);
        }
        call(1_030, 250, true);
        call(1_059, 300, false);

        LatencyWindow.Point sum = minute.sum(1_060);

        assertThat(sum.calls()).isEqualTo(100);
        assertThat(sum.failed()).isEqualTo(1);
        assertThat(sum.late()).isEqualTo(2);
        assertThat(sum.p50Millis()).isBetween(10.0, 11.5);
        assertThat(sum.p99Millis()).isBetween(250.0, 290.0);
        assertThat(sum.maxMillis()).isEqualTo(300);
        assertThat(sum.seconds()).isBetween(60, 70);
    }

    @Test
    void callsAreForgottenAfterSeventySeconds() {
        call(1_000, 10, false);

        assertThat(minute.sum(1_069)).isNotNull();
        assertThat(minute.sum(1_070)).isNull();
        call(1_070, 10, false);
        assertThat(minute.sum(1_070).calls()).isEqualTo(1);
    }
}
