package tern.rpc.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BucketsTest {

    @ParameterizedTest
    @CsvSource({"5, 0.0313", "3, 0.125"})
    void everyValueLiesInItsBucketWithinThePrecision(int bits, double error) {
        int count = 32 << bits;
        for (long micros = 1; micros < TimeUnit.HOURS.toMicros(1); micros = micros * 21 / 20 + 1) {
            long upper = Buckets.upperBoundMicros(Buckets.of(micros, bits, count), bits);

            assertThat(upper).isGreaterThan(micros);
            assertThat((double) (upper - micros)).isLessThanOrEqualTo(Math.max(1, micros * error));
        }
    }

    @Test
    void lastBucketTakesAllThatIsAbove() {
        assertThat(Buckets.of(Long.MAX_VALUE, 3, 256)).isEqualTo(255);
        assertThat(Buckets.of(-1, 3, 256)).isZero();
    }

    @Test
    void percentileOfNothingIsZero() {
        assertThat(Buckets.percentile(new long[256], 0, 0.99, 3)).isZero();
    }
}
