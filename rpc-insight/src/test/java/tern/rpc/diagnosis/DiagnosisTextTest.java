package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;

/** Tests which lines about a cause appear in the text of a diagnosis. */
class DiagnosisTextTest {

    private static String text(double saves) {
        return text(saves, 0);
    }

    private static String text(double saves, double ofFailures) {
        Diagnosis.Miss miss =
                new Diagnosis.Miss(Instant.EPOCH, 10, List.of("Shop.buy"), 100, 200, 20, 0, 0, 0, 300, 50);
        Cause cause = new Cause(
                "SLOW STATEMENT",
                "select stock",
                200,
                300,
                saves,
                ofFailures,
                200,
                Change.of(Where.STATEMENT, "check this statement"),
                List.of(),
                List.of(),
                List.of(),
                List.of());
        return DiagnosisText.of(miss, List.of(cause), Map.of());
    }

    @Test
    void causeOfFailuresHasAShareOfTheFailuresInsteadOfATime() {
        assertThat(text(0, 0.94))
                .contains("94 % of the failed and refused calls")
                .doesNotContain("of 300 ms");
        assertThat(text(0, 0)).contains("200 of 300 ms");
    }

    @Test
    void shareOfCallsThatWouldBeInTimeIsShownOnlyIfItIsNotable() {
        assertThat(text(0.07)).doesNotContain("saves");
        assertThat(text(0.1)).contains("saves    10 % of the bad calls would be in time without it");
    }
}
