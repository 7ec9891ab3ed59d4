package tern.rpc.load.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.load.replay.KneeSearch.Outcome;

class KneeSearchTest {

    @ParameterizedTest
    @ValueSource(doubles = {24, 90, 140, 199, 200, 333, 512, 870})
    void findsACapacityFromBelowWithinAnEighth(double capacity) {
        KneeSearch search = new KneeSearch(200, 1_000, 20);

        while (!search.isDone()) {
            search.record(search.next() <= capacity ? Outcome.HELD : Outcome.MISSED);
        }

        assertThat(search.knee()).isBetween(capacity / 1.13, capacity);
        assertThat(search.beyond()).isGreaterThan(capacity);
    }

    @Test
    void stopsAtTheHighestRate() {
        KneeSearch search = new KneeSearch(200, 1_000, 20);
        List<Double> rates = new ArrayList<>();

        while (!search.isDone()) {
            rates.add(search.next());
            search.record(Outcome.HELD);
        }

        assertThat(rates).containsExactly(200.0, 320.0, 512.0, 819.0, 1_000.0);
        assertThat(search.knee()).isEqualTo(1_000);
        assertThat(search.beyond()).isEqualTo(1_300);
    }

    @Test
    void nearMissIsTriedOnceMore() {
        KneeSearch search = new KneeSearch(200, 1_000, 20);

        search.record(answer(search, 200, Outcome.NEAR_MISS));
        search.record(answer(search, 200, Outcome.HELD));
        search.record(answer(search, 320, Outcome.NEAR_MISS));
        search.record(answer(search, 320, Outcome.NEAR_MISS));

        assertThat(search.next()).isEqualTo(253);
        assertThat(search.knee()).isEqualTo(200);
    }

    @Test
    void clearMissNeedsNoRepetition() {
        KneeSearch search = new KneeSearch(200, 1_000, 20);

        search.record(answer(search, 200, Outcome.MISSED));

        assertThat(search.next()).isEqualTo(125);
    }

    @Test
    void searchEndsWithoutAKneeIfEveryRateMissesTheTarget() {
        KneeSearch search = new KneeSearch(200, 1_000, 20);

        while (!search.isDone()) {
            search.next();
            search.record(Outcome.MISSED);
        }

        assertThat(search.knee()).isZero();
        assertThat(search.beyond()).isEqualTo(13);
    }

    @Test
    void stepsAreLimited() {
        KneeSearch search = new KneeSearch(200, 1_000, 2);

        search.record(answer(search, 200, Outcome.HELD));
        search.record(answer(search, 320, Outcome.NEAR_MISS));

        assertThat(search.isDone()).isTrue();
        assertThat(search.knee()).isEqualTo(200);
    }

    private static Outcome answer(KneeSearch search, double expectedRate, Outcome outcome) {
        assertThat(search.next()).isEqualTo(expectedRate);
        return outcome;
    }
}
