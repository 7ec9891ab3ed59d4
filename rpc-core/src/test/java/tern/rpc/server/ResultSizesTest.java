package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ResultSizesTest {

    private static final long MIB = 1 << 20;

    private final AtomicLong nanos = new AtomicLong();
    private final ResultSizes sizes = new ResultSizes(nanos::get);

    @Test
    void resultsOfUnknownOrSmallSizeAreNotLimited() {
        assertThat(sizes.expectedKib()).isZero();

        sizes.returned(ResultSizes.LARGE_KIB << 10, 100);
        sizes.returned((ResultSizes.LARGE_KIB << 10) - 1, 200_000);

        assertThat(sizes.expectedKib()).isZero();
    }

    @Test
    void largeResultNeedsTheMemoryThatWasAllocated() {
        sizes.returned(30 * MIB, (int) (6 * MIB));

        assertThat(sizes.expectedKib()).isEqualTo(30 << 10);
    }

    @Test
    void memoryThatIsAllocatedForOtherPurposesIsNotExpected() {
        sizes.returned(500 * MIB, (int) MIB);
        assertThat(sizes.expectedKib()).isEqualTo(24 << 10);
    }

    @Test
    void sizeOfAResultFromAnotherThreadIsEstimated() {
        sizes.returned(0, (int) MIB);

        assertThat(sizes.expectedKib()).isEqualTo(8 << 10);
    }

    @Test
    void resultsThatAreNotSentAreMeasuredOnceASecond() {
        assertThat(sizes.measuresUnsent()).isTrue();
        assertThat(sizes.measuresUnsent()).isFalse();

        nanos.addAndGet(1_000_000_000);
        assertThat(sizes.measuresUnsent()).isTrue();
    }

    @Test
    void smallerResultsDoNotReplaceTheLargestRecentOne() {
        sizes.returned(30 * MIB, (int) (6 * MIB));

        for (int i = 0; i < 1_000; i++) {
            sizes.returned(MIB, 200_000);
        }

        assertThat(sizes.expectedKib()).isEqualTo(30 << 10);
    }

    @Test
    void expectedMemoryIsHalvedEveryTenSeconds() {
        sizes.returned(32 * MIB, (int) (6 * MIB));

        nanos.addAndGet(ResultSizes.HALF_LIFE_NANOS);
        assertThat(sizes.expectedKib()).isEqualTo(16 << 10);
        nanos.addAndGet(ResultSizes.HALF_LIFE_NANOS * 8);
        assertThat(sizes.expectedKib()).isZero();
        nanos.addAndGet(ResultSizes.HALF_LIFE_NANOS * 1_000);
        assertThat(sizes.expectedKib()).isZero();
    }

    @Test
    void resultThatWasNotEncodedIsIgnored() {
        sizes.returned(20 * MIB, -1);
        sizes.returned(20 * MIB, 0);

        assertThat(sizes.expectedKib()).isZero();
    }

    @Test
    void memoryIsMeasuredOnlyAfterAResultThatWasNotSmall() {
        sizes.returned(0, ResultSizes.MEASURED_BYTES - 1);
        assertThat(sizes.measures()).isFalse();

        sizes.returned(0, ResultSizes.MEASURED_BYTES);

        assertThat(sizes.measures()).isTrue();
    }
}
