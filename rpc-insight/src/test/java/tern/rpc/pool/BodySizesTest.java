package tern.rpc.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BodySizesTest {

    // The sums belong to the process, so each test needs a different exchange.
    private final String exchange = "GET stock:80/" + UUID.randomUUID();

    private void add(int bodies, long bytes) {
        for (int i = 0; i < bodies; i++) {
            BodySizes.ANSWERS.add(exchange, bytes);
        }
    }

    @Test
    void sizeOfAnExchangeWithoutBodiesIsUnknown() {
        assertThat(BodySizes.ANSWERS.mean(exchange)).isEqualTo(-1);
        assertThat(BodySizes.ANSWERS.counted(exchange)).isZero();
        assertThat(BodySizes.ANSWERS.means()).doesNotContainKey(exchange);
    }

    @Test
    void requestsAndAnswersHaveSeparateSizes() {
        add(2, 100);
        BodySizes.REQUESTS.add(exchange, 5_000);

        assertThat(BodySizes.ANSWERS.mean(exchange)).isEqualTo(100);
        assertThat(BodySizes.REQUESTS.mean(exchange)).isEqualTo(5_000);
    }

    @Test
    void meanOfManyBodiesContainsOnlyTheLastPeriod() {
        long later = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
        add(10, 60);
        BodySizes.turn(later);
        add(10, 12_000_000);

        assertThat(BodySizes.ANSWERS.mean(exchange)).isEqualTo(12_000_000);
        assertThat(BodySizes.ANSWERS.counted(exchange)).isEqualTo(20);

        BodySizes.turn(later + TimeUnit.SECONDS.toNanos(1)); // The current period is too short to end.
        assertThat(BodySizes.ANSWERS.counted(exchange)).isEqualTo(20);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 bytes",
        "60, 60 bytes",
        "999, 999 bytes",
        "2000, 2 KB",
        "2340, 2.3 KB",
        "23400, 23 KB",
        "999400, 999 KB",
        "999600, 1 MB",
        "12000000, 12 MB",
        "1250000, 1.3 MB"
    })
    void sizesAreShownWithAUnit(double bytes, String text) {
        assertThat(BodySizes.text(bytes)).isEqualTo(text);
    }
}
