package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.diagnosis.Diagnosis.Miss;
import tern.rpc.diagnosis.History.Episode;

/** Tests which recordings belong to the current diagnosis. */
class RecordedTest {

    private static final Instant START = Instant.parse("2026-11-29T09:46:54Z");

    /** Returns a recording of 30 s that began ten seconds after the start of the miss. */
    private static Recorded recorded(@Nullable Instant miss) {
        return new Recorded(START.plusSeconds(10), miss, 30, List.of());
    }

    private static Miss miss(Instant since) {
        return new Miss(since, 60, List.of(), 100, 100, 50, 0, 0, 0, 200, 50);
    }

    /** Returns the period in which the current cause has come first. */
    private static Episode first(Instant miss, long seconds) {
        Instant from = miss.plusSeconds(seconds);
        return new Episode(miss, from, from, List.of(), "LOCK: Orders", 1, 1, "", 1, 1, 0, 0, 0, 1);
    }

    @Test
    void recordingOfTheSameMissAndCauseIsShown() {
        assertThat(recorded(START).isOf(miss(START), first(START, 1))).isTrue();
        assertThat(recorded(START).isOf(miss(START), first(START, 25))).isTrue();
    }

    @Test
    void recordingThatEndedBeforeThePresentCauseIsNotShown() {
        assertThat(recorded(START).isOf(miss(START), first(START, 41))).isFalse();
    }

    @Test
    void recordingOfAnotherMissIsNotShown() {
        assertThat(recorded(START).isOf(miss(START.plusSeconds(300)), null)).isFalse();
        assertThat(recorded(START).isOf(null, null)).isFalse();
        assertThat(recorded(null).isOf(miss(START), null)).isFalse();
    }

    @Test
    void recordingWhileCallsMeetTheTargetIsShownWhileTheyDo() {
        assertThat(recorded(null).isOf(null, first(START, 1))).isTrue();
    }
}
