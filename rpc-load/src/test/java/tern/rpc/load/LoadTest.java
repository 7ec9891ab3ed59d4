package tern.rpc.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LoadTest {

    private static final Load LOAD = new Load(500, Duration.ofSeconds(10), Duration.ofSeconds(30), 200);

    @Test
    void rateRisesInTheFirstHalfOfTheWarmUpAndStays() {
        assertThat(callsIn(0, 1)).isEqualTo(50);
        assertThat(callsIn(4, 5)).isEqualTo(450);
        assertThat(callsIn(5, 6)).isEqualTo(500);
        assertThat(callsIn(39, 40)).isEqualTo(500);
        assertThat(callsIn(40, 41)).isZero();
    }

    @Test
    void callsAfterTheWarmUpAreRateTimesDuration() {
        assertThat(LOAD.calls() - LOAD.warmUpCalls()).isEqualTo(15_000);
        assertThat(LOAD.startNanos(LOAD.warmUpCalls()))
                .isEqualTo(Duration.ofSeconds(10).toNanos());
    }

    @Test
    void callsStartInOrderAndEvenly() {
        long[] starts = LongStream.range(0, LOAD.calls()).map(LOAD::startNanos).toArray();

        assertThat(starts).isSorted();
        assertThat(starts[3_001] - starts[3_000]).isEqualTo(2_000_000);
    }

    @Test
    void withoutWarmUpTheFirstCallCounts() {
        Load load = new Load(10, Duration.ZERO, Duration.ofSeconds(2), 1);

        assertThat(load.warmUpCalls()).isZero();
        assertThat(load.calls()).isEqualTo(20);
        assertThat(load.startNanos(0)).isZero();
        assertThat(load.startNanos(1)).isEqualTo(100_000_000);
    }

    @Test
    void wrongValuesAreRefusedByName() {
        Duration second = Duration.ofSeconds(1);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Load(0, second, second, 1))
                .withMessage("rate is 0.0; expected more than 0 and at most 1000000 calls a second");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Load(1, second, Duration.ZERO, 1))
                .withMessage("duration is PT0S; expected more than 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Load(1, second, second, 0))
                .withMessage("users is 0; expected 1 or more");
    }

    private static long callsIn(int fromSecond, int toSecond) {
        return LongStream.range(0, LOAD.calls())
                .map(LOAD::startNanos)
                .filter(nanos -> nanos >= fromSecond * 1_000_000_000L && nanos < toSecond * 1_000_000_000L)
                .count();
    }
}
