package tern.rpc.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RoundRobinPickerTest {

    private static List<Integer> picks(int count, int... weights) {
        RoundRobinPicker picker = new RoundRobinPicker(IntStream.of(weights)
                .mapToObj(weight -> Instance.of(new Endpoint("host", 1), weight))
                .toList());
        return IntStream.range(0, count).mapToObj(i -> picker.next()).toList();
    }

    @Test
    void equalWeightsTakeTurns() {
        assertThat(picks(6, 100, 100, 100)).containsExactly(0, 1, 2, 0, 1, 2);
    }

    @Test
    void weightsAreKeptWithoutBursts() {
        assertThat(picks(4, 300, 100)).containsExactly(0, 0, 1, 0);
        assertThat(picks(700, 500, 100, 100).stream().filter(pick -> pick == 0)).hasSize(500);
    }

    @Test
    void smallWeightBesideALargeOneIsPicked() {
        assertThat(picks(10_001, 50_000, 1)).contains(1);
        assertThat(picks(10_001, 1, 50_000).stream().filter(pick -> pick == 0)).hasSize(1);
        assertThat(picks(20_000, 50_001, 50_000).stream()
                        .filter(pick -> pick == 0)
                        .count())
                .isBetween(9_900L, 10_100L);
        assertThat(picks(20_000, Integer.MAX_VALUE, 0, 1)).contains(2).doesNotContain(1);
    }

    @Test
    void zeroWeightGetsNothingWhileOthersHaveSome() {
        assertThat(picks(100, 0, 1)).containsOnly(1);
    }

    @Test
    void onlyZeroWeightsTakeTurns() {
        assertThat(picks(4, 0, 0)).containsExactly(0, 1, 0, 1);
    }
}
