package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests which recordings belong to the current diagnosis. */
class RecordedTest {

    private static final Instant START = Instant.parse("2026-11-29T09:46:54Z");

    /** Returns a recording of 30 s that began ten seconds after the start of the miss. */
    private static Recorded recorded(@Nullable Instant miss) {
        return new Recorded(START.plusSeconds(10), miss, 30, List.of());
    }

    @Test
    void recordingOfTheSameMissAndCauseIsShown() {
        assertThat(recorded(START).isOf(START, START.plusSeconds(1))).isTrue();
        assertThat(recorded(START).isOf(START, START.plusSeconds(25))).isTrue();
    }

    @Test
    void recordingThatEndedBeforeThePresentCauseIsNotShown() {
        assertThat(recorded(START).isOf(START, START.plusSeconds(41))).isFalse();
    }

    @Test
    void recordingOfAnotherMissIsNotShown() {
        assertThat(recorded(START).isOf(START.plusSeconds(300), null)).isFalse();
        assertThat(recorded(START).isOf(null, null)).isFalse();
        assertThat(recorded(null).isOf(START, null)).isFalse();
    }

    @Test
    void recordingWhileCallsMeetTheTargetIsShownWhileTheyDo() {
        assertThat(recorded(null).isOf(null, START.plusSeconds(1))).isTrue();
    }
}
