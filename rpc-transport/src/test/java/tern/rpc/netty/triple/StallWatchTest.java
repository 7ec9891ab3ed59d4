package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StallWatchTest {

    private final StallWatch watch = new StallWatch();

    private boolean look(boolean couldMove, long moves, int seconds) {
        return watch.isStalled(couldMove, moves, TimeUnit.SECONDS.toNanos(seconds));
    }

    @Test
    void stalledStreamIsReportedOnceAfterTenSeconds() {
        assertThat(look(true, 7, 100)).isFalse();
        assertThat(look(true, 7, 109)).isFalse();
        assertThat(look(true, 7, 110)).isTrue();
        assertThat(look(true, 7, 130)).isFalse();
    }

    @Test
    void streamThatMovesIsNotStalled() {
        for (int second = 0; second < 100; second++) {
            assertThat(look(true, second / 9, second)).isFalse();
        }
    }

    @Test
    void streamWithoutAWindowIsNotStalled() {
        for (int second = 0; second < 100; second++) {
            assertThat(look(second % 10 == 0, 7, second)).isFalse();
        }
    }

    @Test
    void timeIsTakenFromTheMomentWhenItCouldMove() {
        assertThat(look(false, 7, 0)).isFalse();
        assertThat(look(true, 7, 50)).isFalse();
        assertThat(look(true, 7, 59)).isFalse();
        assertThat(look(true, 7, 60)).isTrue();
    }
}
