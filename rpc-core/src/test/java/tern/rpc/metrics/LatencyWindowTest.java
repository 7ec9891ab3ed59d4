package tern.rpc.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LatencyWindowTest {

    private final AtomicLong now = new AtomicLong(TimeUnit.HOURS.toNanos(5));
    private final LatencyWindow window = new LatencyWindow(now::get, TimeUnit.MILLISECONDS.toNanos(100));

    private void seconds(int count) {
        now.addAndGet(TimeUnit.SECONDS.toNanos(count));
    }

    @Test
    void reportHasRatePercentilesAndShares() {
        for (int second = 0; second < 10; second++) {
            for (int i = 1; i <= 100; i++) {
                window.record(TimeUnit.MILLISECONDS.toNanos(i == 100 ? 250 : i), i == 1);
            }
            seconds(1);
        }

        LatencyWindow.Report report = window.report();

        assertThat(report.calls()).isEqualTo(1_000);
        assertThat(report.qps()).isEqualTo(100, within(0.01));
        assertThat(report.p50Millis()).isCloseTo(50, Percentage.withPercentage(4));
        assertThat(report.p99Millis()).isCloseTo(99, Percentage.withPercentage(4));
        assertThat(report.maxMillis()).isEqualTo(250);
        assertThat(report.shareOverTarget()).isEqualTo(0.01, within(1e-9));
        assertThat(report.shareFailed()).isEqualTo(0.01, within(1e-9));
    }

    @Test
    void secondsOlderThanAMinuteAreForgotten() {
        window.record(1_000_000, false);
        seconds(30);
        window.record(2_000_000, false);
        seconds(40);

        assertThat(window.report().calls()).isEqualTo(1);
        assertThat(window.report().maxMillis()).isEqualTo(2);
    }

    @Test
    void presentSecondIsLeftOutUntilItIsOver() {
        window.record(1_000_000, false);

        assertThat(window.report().calls()).isZero();
        seconds(1);
        assertThat(window.report().calls()).isEqualTo(1);
    }

    @Test
    void emptyWindowReportsZeros() {
        assertThat(window.report()).isEqualTo(new LatencyWindow.Report(0, 1, 0, 0, 0, 0, 0, 0));
    }

    @Test
    void seriesHasASecondForTheLastMinuteAndTenSecondsBeforeIt() {
        for (int second = 0; second < 200; second++) {
            window.record(TimeUnit.MILLISECONDS.toNanos(second == 5 ? 400 : 10), second == 5);
            seconds(1);
        }

        List<LatencyWindow.Point> series = window.series();

        assertThat(series.stream().mapToLong(LatencyWindow.Point::calls).sum()).isEqualTo(200);
        assertThat(series.stream().mapToInt(LatencyWindow.Point::seconds).sum()).isEqualTo(200);
        assertThat(series.subList(series.size() - 60, series.size())).allSatisfy(point -> {
            assertThat(point.seconds()).isEqualTo(1);
            assertThat(point.p50Millis()).isEqualTo(10);
        });
        assertThat(series.get(0))
                .isEqualTo(new LatencyWindow.Point(series.get(0).second(), 10, 10, 1, 1, 49, 400, 400));
    }

    @Test
    void seriesForgetsSecondsAfterFifteenMinutes() {
        window.record(1_000_000, false);
        seconds(14 * 60);
        window.record(1_000_000, false);
        seconds(59);

        assertThat(window.series().stream()
                        .mapToLong(LatencyWindow.Point::calls)
                        .sum())
                .isEqualTo(2);
        seconds(2);
        assertThat(window.series().stream()
                        .mapToLong(LatencyWindow.Point::calls)
                        .sum())
                .isEqualTo(1);
        assertThat(window.series().stream()
                        .mapToInt(LatencyWindow.Point::seconds)
                        .sum())
                .isEqualTo(900);
    }

    @Test
    void secondsWithoutCallsAreEmptyPoints() {
        seconds(3);

        assertThat(window.series()).hasSize(3).allMatch(point -> point.calls() == 0 && point.p99Millis() == 0);
    }

    @Test
    void readerWithEarlierPointsNeedsFewPointsOfASecond() {
        for (int second = 0; second < 900; second++) {
            window.record(TimeUnit.MILLISECONDS.toNanos(10), false);
            seconds(1);
        }
        long earlier = window.second();
        window.record(TimeUnit.MILLISECONDS.toNanos(20), false);
        seconds(1);

        List<LatencyWindow.Point> later = window.series(earlier);

        assertThat(later).hasSizeBetween(1, 2);
        assertThat(later.get(later.size() - 1)).isEqualTo(new LatencyWindow.Point(earlier, 1, 1, 0, 0, 20, 20, 20));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 9, 10, 59, 60, 61, 300, 839, 840, 900, 2_000})
    void laterPointsCompleteThePointsOfAReader(int pause) {
        for (int second = 0; second < 1_000; second++) {
            callOf(second);
        }

        for (int alignment = 0; alignment < 11; alignment++) {
            callOf(alignment);
            long earlier = window.second();
            List<LatencyWindow.Point> before = window.series();
            for (int second = 0; second < pause; second++) {
                callOf(second);
            }
            List<LatencyWindow.Point> all = window.series();

            List<LatencyWindow.Point> merged = merged(before, window.series(earlier));

            // The first points may differ: the reader keeps a ten-second point until all seconds of the point are too
            // old.
            long first = all.get(0).second();
            assertThat(merged.stream().filter(point -> point.second() > first).toList())
                    .isEqualTo(all.subList(1, all.size()));
        }
    }

    private void callOf(int second) {
        window.record(TimeUnit.MILLISECONDS.toNanos(1 + second % 200), second % 7 == 0);
        seconds(1);
    }

    private static List<LatencyWindow.Point> merged(List<LatencyWindow.Point> kept, List<LatencyWindow.Point> later) {
        return Stream.concat(
                        kept.stream().filter(one -> later.stream().noneMatch(other -> overlap(one, other))),
                        later.stream())
                .sorted(Comparator.comparingLong(LatencyWindow.Point::second))
                .toList();
    }

    private static boolean overlap(LatencyWindow.Point one, LatencyWindow.Point other) {
        return one.second() < other.second() + other.seconds() && other.second() < one.second() + one.seconds();
    }

    @Test
    void longestTimeIsPartOfTheReportInEveryBucket() {
        long[] times = {0, 1, 31_999, 32_000, 1_000_000, Long.MAX_VALUE / 2};
        for (long nanos : times) {
            window.record(nanos, false);
            seconds(1);
        }

        assertThat(window.report().calls()).isEqualTo(times.length);
        assertThat(window.series()).allMatch(point -> point.calls() == 1);
    }
}
