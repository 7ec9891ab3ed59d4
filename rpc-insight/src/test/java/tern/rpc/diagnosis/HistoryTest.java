package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.diagnosis.History.Episode;

class HistoryTest {

    private static final Instant BEGUN = Instant.parse("2026-01-01T10:00:00Z");

    private final History history = new History();

    /** Records that a cause is first in each of the given seconds after the beginning of a miss. */
    private void first(Instant miss, String cause, int fromSecond, int toSecond) {
        for (int second = fromSecond; second <= toSecond; second++) {
            Instant at = miss.plusSeconds(second);
            history.add(new Episode(miss, at, at, List.of("Shop.buy"), cause, 200, 200, "", 100, 5, 0, 0, 0, 250));
        }
    }

    private static Diagnosis missSince(Instant since) {
        Diagnosis.Miss miss = new Diagnosis.Miss(since, 60, List.of(), 100, 100, 5, 0, 0, 0, 250, -1);
        return Diagnosis.ofMiss("", miss, List.of(), Map.of(), 0, List.of());
    }

    private List<String> before(Diagnosis now) {
        return history.before(now, 5).stream().map(Episode::first).toList();
    }

    @Test
    void causesInALongMissAreListedWithTheirTimes() {
        first(BEGUN, "LOCK", 0, 30);
        first(BEGUN, "SLOW STATEMENT", 300, 320);
        first(BEGUN, "COLLECTOR", 600, 610);

        assertThat(before(missSince(BEGUN))).containsExactly("SLOW STATEMENT", "LOCK");
        Episode statement = history.before(missSince(BEGUN), 5).get(0);
        assertThat(statement.from()).isEqualTo(BEGUN.plusSeconds(300));
        assertThat(statement.until()).isEqualTo(BEGUN.plusSeconds(320));
    }

    @Test
    void causeThatIsFirstOnlyBrieflyInTheCurrentMissIsNotListed() {
        first(BEGUN, "LOCK", 0, 30);
        first(BEGUN, "COLLECTOR", 31, 33);
        first(BEGUN, "SLOW STATEMENT", 34, 60);

        assertThat(before(missSince(BEGUN))).containsExactly("LOCK");
    }

    @Test
    void causeThatIsFirstAgainLaterHasTwoEpisodes() {
        first(BEGUN, "LOCK", 0, 30);
        first(BEGUN, "LOCK", 300, 330);

        assertThat(before(missSince(BEGUN))).containsExactly("LOCK");
        assertThat(history.episodes()).hasSize(2);
        assertThat(history.episodes().get(1).from()).isEqualTo(BEGUN.plusSeconds(300));
    }

    @Test
    void causesOfEarlierMissesAreListedEvenIfTheyWereBrief() {
        first(BEGUN, "LOCK", 0, 2);
        Instant next = BEGUN.plusSeconds(500);
        first(next, "COLLECTOR", 0, 10);

        assertThat(before(missSince(next))).containsExactly("LOCK");
        assertThat(before(Diagnosis.healthy(Duration.ofMillis(100)))).containsExactly("COLLECTOR", "LOCK");
    }
}
