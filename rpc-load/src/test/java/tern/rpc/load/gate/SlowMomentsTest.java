package tern.rpc.load.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import tern.rpc.load.Tally;
import tern.rpc.load.Target;
import tern.rpc.waiting.Vitals;
import tern.rpc.waiting.WaitingReport;

class SlowMomentsTest {

    private static final int FAST = 20;
    private static final int SLOW = 100;

    private final Deque<CompletableFuture<WaitingReport>> reports = new ArrayDeque<>();
    private int looks;
    private final SlowMoments moments = new SlowMoments(new Target(500, Duration.ofMillis(100)), () -> {
        looks++;
        return reports.isEmpty() ? CompletableFuture.completedFuture(waiting(1, "lock")) : reports.poll();
    });

    @Test
    void nobodyLooksWhileTheTargetIsMetOrWarmUpLasts() {
        moments.report(second(1, SLOW, 3, true));
        moments.report(second(2, FAST, 0, false));

        assertThat(looks).isZero();
        assertThat(moments.text()).startsWith("No second missed the target");
    }

    @Test
    void slownessAndErrorsAreLookedAt() {
        moments.report(second(1, SLOW, 0, false));
        moments.report(second(6, FAST, 1, false));

        assertThat(looks).isEqualTo(2);
    }

    @Test
    void looksAreFiveSecondsApart() {
        for (int second = 1; second <= 12; second++) {
            moments.report(second(second, SLOW, 0, false));
        }

        assertThat(looks).isEqualTo(3);
    }

    @Test
    void worstMomentIsShownWithItsFirstRows() {
        reports.add(CompletableFuture.completedFuture(waiting(3, "early")));
        reports.add(CompletableFuture.completedFuture(waiting(90, "worst")));
        reports.add(CompletableFuture.failedFuture(new IOException("gone")));
        for (int second = 1; second <= 11; second++) {
            moments.report(second(second, SLOW, 0, false));
        }

        assertThat(moments.text())
                .startsWith("While it was slow (the worst of 3 looks):")
                .contains("90 of 200 threads", "worst 1", "worst 5", "spring.pool (now 8)", "pool full (jdbc): 8 of 8")
                .doesNotContain("early", "worst 6", "pool idle");
    }

    @Test
    void reportThatCannotBeHadIsSaid() {
        reports.add(CompletableFuture.failedFuture(new IOException("gone")));
        moments.report(second(1, SLOW, 0, false));

        assertThat(moments.text())
                .isEqualToIgnoringNewLines("What its threads waited for is not known: java.io.IOException: gone");
    }

    private static Tally.Second second(int number, int p99Millis, int errors, boolean warmUp) {
        return new Tally.Second(Duration.ofSeconds(number), warmUp, 500, errors, 5, p99Millis, 200);
    }

    private static WaitingReport waiting(int threads, String name) {
        List<WaitingReport.Row> rows = new ArrayList<>();
        for (int row = 1; row <= 7; row++) {
            rows.add(new WaitingReport.Row(
                    name + " " + row, threads / 7, 1 / 7.0, Duration.ofMillis(row), "spring.pool (now 8)"));
        }
        return new WaitingReport(
                new Vitals(Collections.singletonList(new Vitals.Line("cpu", "none"))),
                200,
                100,
                threads,
                rows,
                List.of(
                        new WaitingReport.Pool("full", "jdbc", 8, 8, 50, 0, 0),
                        new WaitingReport.Pool("idle", "redis", 1, 8, 0, 0, 0)));
    }
}
