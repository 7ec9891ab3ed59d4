package tern.rpc.diagnosis.calls;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests when a miss of the latency target begins. */
class MissWatchTest {

    private final MissWatch watch = new MissWatch();
    private int begun; // how many times calls have begun to miss the latency target
    private boolean open;

    /** Adds seconds with 100 calls each. In each second, the given number of calls is late. */
    private void seconds(int count, int late) {
        for (int i = 0; i < count; i++) {
            boolean now = watch.second(100, late, 0, false);
            begun += now && (!open || watch.isNew()) ? 1 : 0;
            open = now;
        }
    }

    @Test
    void lateCallsOfTheWarmUpBeginNoMissAtItsEnd() {
        seconds(58, 40);
        seconds(60, 0);

        assertThat(begun).isZero();
    }

    @Test
    void faultSoonAfterAnUncleanStartBeginsANewMiss() {
        seconds(70, 40);
        seconds(24, 0);
        assertThat(begun).isEqualTo(1);

        seconds(4, 40);

        assertThat(begun).isEqualTo(2);
    }

    @Test
    void muchLargerShareOfLateCallsAfterALullBeginsANewMiss() {
        seconds(200, 0);
        seconds(4, 10);
        seconds(24, 0);
        seconds(4, 80);

        assertThat(begun).isEqualTo(2);
    }

    @Test
    void sameFaultThatComesBackAfterALullContinuesItsMiss() {
        seconds(200, 0);
        for (int i = 0; i < 4; i++) {
            seconds(4, 40);
            seconds(22, 0);
        }

        assertThat(begun).isEqualTo(1);
    }

    @Test
    void missWithoutALullContinues() {
        seconds(200, 0);
        seconds(20, 4);
        seconds(20, 90);

        assertThat(begun).isEqualTo(1);
    }

    @Test
    void missOfFewCallsEndsHalfAMinuteAfterItsCallsMeetTheTarget() {
        for (int second = 0; second < 130; second++) {
            open = watch.second(2, second >= 120 ? 1 : 0, 0, false);
        }
        assertThat(open).isTrue();

        for (int second = 0; second < 41; second++) {
            open = watch.second(2, 0, 0, false);
        }

        assertThat(open).isFalse();
    }
}
