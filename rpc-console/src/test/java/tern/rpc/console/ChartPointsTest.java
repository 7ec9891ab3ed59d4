package tern.rpc.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.metrics.LatencyWindow;

class ChartPointsTest {

    private final AtomicLong nanos = new AtomicLong(TimeUnit.HOURS.toNanos(5));
    private final LatencyWindow window = new LatencyWindow(nanos::get, TimeUnit.MILLISECONDS.toNanos(100));
    private final ChartPoints points = new ChartPoints(window, "first");
    private Instant at = Instant.parse("2026-11-24T10:00:00.123456Z");

    @BeforeEach
    void callsOfFiveMinutes() {
        for (int second = 0; second < 300; second++) {
            window.record(TimeUnit.MILLISECONDS.toNanos(5), false);
            pass(1);
        }
    }

    private void pass(int seconds) {
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
        at = at.plusSeconds(seconds);
    }

    private Map<String, Object> read(@Nullable String since) {
        Map<String, Object> answer = new LinkedHashMap<>();
        points.put(answer, at, since);
        return answer;
    }

    private static int count(Map<String, Object> answer) {
        return ((List<?>) answer.get("points")).size();
    }

    private static String next(Map<String, Object> answer) {
        return (String) answer.get("next");
    }

    private void isComplete(Map<String, Object> answer) {
        assertThat(answer).containsEntry("since", null);
        assertThat(count(answer)).isEqualTo(window.series().size());
    }

    @Test
    void answerToAMarkHasOnlyLaterPoints() {
        Map<String, Object> first = read(null);
        pass(1);
        Map<String, Object> second = read(next(first));

        assertThat(count(first)).isGreaterThan(60);
        assertThat(count(second)).isBetween(1, 2);
        assertThat(second).containsEntry("since", next(first)).doesNotContainEntry("next", next(first));
    }

    @Test
    void timesOfPointsStayTheSameBetweenAnswers() {
        Map<String, Object> first = read(null);
        at = at.plusMillis(700);
        Map<String, Object> second = read(null);

        assertThat(second.get("points")).isEqualTo(first.get("points"));
        assertThat(first.get("points").toString()).contains("at=2026-11-24T10:04:59.123Z");
    }

    @Test
    void markFromBeforeAClockChangeGetsAllPoints() {
        String mark = next(read(null));
        at = at.minusSeconds(3_600);

        Map<String, Object> answer = read(mark);

        isComplete(answer);
        assertThat(read(next(answer))).containsEntry("since", next(answer));
    }

    @Test
    void markOfAnotherProcessGetsAllPoints() {
        String mark = next(read(null));
        Map<String, Object> answer = new LinkedHashMap<>();

        new ChartPoints(window, "second").put(answer, at, mark);

        isComplete(answer);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "first", "first.", "<script>", "0", "-1", "first.0.18300"})
    void textThatIsNoMarkGetsAllPoints(String text) {
        isComplete(read(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "9223372036854775808", "9999999999", " 1", "1.0"})
    void markWithAWrongSecondGetsAllPoints(String second) {
        String mark = next(read(null));

        isComplete(read(mark.substring(0, mark.lastIndexOf('.') + 1) + second));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-9223372036854775808", "-1", "0", "1"})
    void markOfLongAgoGetsEveryPoint(String second) {
        String mark = next(read(null));

        Map<String, Object> answer = read(mark.substring(0, mark.lastIndexOf('.') + 1) + second);

        assertThat(count(answer)).isEqualTo(window.series().size());
    }
}
