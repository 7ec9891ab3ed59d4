package tern.rpc.load.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import tern.rpc.load.Tally;
import tern.rpc.load.Target;

class SlowMomentsTest {

    private static final int FAST = 20;
    private static final int SLOW = 100;

    private final Deque<CompletableFuture<String>> reports = new ArrayDeque<>();
    private int looks;
    private final SlowMoments moments = new SlowMoments(new Target(500, Duration.ofMillis(100)), () -> {
        looks++;
        return reports.isEmpty() ? CompletableFuture.completedFuture("HEALTHY") : reports.poll();
    });

    @Test
    void nothingIsSampledDuringWarmUpOrWhileTheTargetIsMet() {
        moments.report(second(1, SLOW, 3, true));
        moments.report(second(2, FAST, 0, false));

        assertThat(looks).isZero();
        assertThat(moments.text()).startsWith("No single second missed the target");
    }

    @Test
    void slowAndFailedSecondsAreDiagnosed() {
        moments.report(second(1, SLOW, 0, false));
        moments.report(second(6, FAST, 1, false));

        assertThat(looks).isEqualTo(2);
    }

    @Test
    void diagnosesAreFiveSecondsApart() {
        for (int second = 1; second <= 12; second++) {
            moments.report(second(second, SLOW, 0, false));
        }

        assertThat(looks).isEqualTo(3);
    }

    @Test
    void lastDiagnosisOfAMissIsShown() {
        reports.add(CompletableFuture.completedFuture("MISS early"));
        reports.add(CompletableFuture.completedFuture("MISS last"));
        reports.add(CompletableFuture.failedFuture(new IOException("gone")));
        reports.add(CompletableFuture.completedFuture("HEALTHY"));
        for (int second = 1; second <= 16; second++) {
            moments.report(second(second, SLOW, 0, false));
        }

        assertThat(moments.text())
                .startsWith("While it was slow (the last of 4 looks):")
                .endsWith("MISS last");
    }

    @Test
    void missingDiagnosisIsReportedWithItsReason() {
        reports.add(CompletableFuture.failedFuture(new IOException("gone")));
        moments.report(second(1, SLOW, 0, false));

        assertThat(moments.text()).isEqualToIgnoringNewLines("There is no diagnosis: java.io.IOException: gone");
    }

    private static Tally.Second second(int number, int p99Millis, int errors, boolean warmUp) {
        return new Tally.Second(Duration.ofSeconds(number), warmUp, 500, errors, 5, p99Millis, 200);
    }
}
