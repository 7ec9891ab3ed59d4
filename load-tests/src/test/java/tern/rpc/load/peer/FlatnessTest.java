package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import tern.rpc.load.peer.Flatness.Sample;
import tern.rpc.load.peer.Flatness.Verdict;

class FlatnessTest {

    @Test
    void slopeOfAStraightLineIsFound() {
        assertThat(Slope.of(new double[] {1, 2, 3}, new double[] {5, 7, 9}).perMinute())
                .isCloseTo(2, within(1e-9));
        assertThat(Slope.of(new double[] {1, 2, 3, 4}, new double[] {1, -1, -1, 1})
                        .perMinute())
                .isCloseTo(0, within(1e-9));
        assertThat(Slope.of(new double[] {1}, new double[] {5}).perMinute()).isZero();
    }

    @Test
    void valuesThatGoUpAndDownAreFlat() {
        List<Verdict> verdicts = verdicts(minute -> held(40_000_000 + minute % 2 * 3_000_000L, 30 + minute % 2, 20));

        assertThat(verdicts).allMatch(Verdict::flat);
    }

    @Test
    void heapThatGrowsByMoreThanAMegabyteInTenMinutesIsNotFlat() {
        List<Verdict> verdicts = verdicts(minute -> held(40_000_000 + minute * 120_000L, 30, 20));

        assertThat(verdicts)
                .filteredOn(verdict -> !verdict.flat())
                .extracting(Verdict::what)
                .containsExactly("heap after collection");
        assertThat(verdicts.get(0).growth()).startsWith("+1.20 MB in 10.0 min");
    }

    @Test
    void aShortRunIsNotExtrapolated() {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < 11; i++) {
            samples.add(new Sample(i * 0.3, held(40_000_000 + i * 50_000L, 30, 20)));
        }

        assertThat(new Flatness(samples).verdicts()).allMatch(Verdict::flat);
        assertThat(new Flatness(samples).verdicts().get(0).growth()).startsWith("+0.40 MB in 2.4 min");
    }

    @Test
    void oneAdditionalThreadOrDescriptorIsNotFlat() {
        assertThat(verdicts(minute -> held(40_000_000, 30 + minute / 30, 20 + minute / 30)))
                .filteredOn(verdict -> !verdict.flat())
                .extracting(Verdict::what)
                .containsExactly("threads", "open descriptors");
    }

    @Test
    void theFirstTenthIsLeftOut() {
        assertThat(verdicts(minute -> held(minute < 6 ? 1_000_000 : 40_000_000, minute < 6 ? 3 : 30, 20)))
                .allMatch(Verdict::flat);
    }

    private static List<Verdict> verdicts(IntFunction<Resources> held) {
        List<Sample> samples = new ArrayList<>();
        for (int minute = 0; minute < 60; minute++) {
            samples.add(new Sample(minute, held.apply(minute)));
        }
        return new Flatness(samples).verdicts();
    }

    private static Resources held(long heap, long threads, long descriptors) {
        return new Resources(heap, 20_000_000, threads, descriptors, 1_000, 4_000_000, 0);
    }
}
