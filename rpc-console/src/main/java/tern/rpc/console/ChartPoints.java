package tern.rpc.console;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.metrics.LatencyWindow;

/**
 * The points of the charts, as JSON data. All points together are ten times as large as the rest of the answer. A page
 * that already has the points from an earlier answer therefore receives only the points that have changed since that
 * answer. Thread-safe.
 */
final class ChartPoints {

    /** If the system clock changes by at least this duration, the times of all points are computed again. */
    private static final Duration CLOCK_CHANGE = Duration.ofSeconds(2);

    private final LatencyWindow window;
    private final String instance;
    private volatile Instant start = Instant.EPOCH; // the time at which second 0 of {@code window} began

    /** @param instance the id of this process */
    ChartPoints(LatencyWindow window, String instance) {
        this.window = window;
        this.instance = instance;
    }

    /**
     * Adds the points of the charts to an answer, together with a mark. In its next request, the page sends the mark
     * back to get only points later than those in this answer.
     *
     * @param at the current time
     * @param since the mark from the last answer that the page received; null if there was none. All points are
     *     returned if the mark comes from another process or from before a change of the system clock.
     */
    void put(Map<String, Object> into, Instant at, @Nullable String since) {
        long second = window.second();
        Instant zero = startAt(at, second);
        // The page sends the mark back to request later points. The mark contains the process and the start of the
        // window, because the page must not mix points from different processes or windows.
        String run = instance + "." + zero.toEpochMilli() + ".";
        long earlier = since == null ? Long.MAX_VALUE : secondIn(since, run);
        boolean known = earlier <= second;
        into.put("points", shown(known ? window.series(earlier) : window.series(), zero));
        into.put("since", known ? since : null);
        into.put("next", run + second);
    }

    /**
     * Returns the last second whose points the page already has, counted from the start of the charts' time window. The
     * mark contains this second after the text {@code run}, which identifies the process and the start of the window.
     * Returns {@link Long#MAX_VALUE} if the mark begins with another text.
     */
    private static long secondIn(String mark, String run) {
        try {
            return mark.startsWith(run) ? Long.parseLong(mark.substring(run.length())) : Long.MAX_VALUE;
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    private Instant startAt(Instant at, long second) {
        Instant known = start;
        Instant now = at.minusSeconds(second).truncatedTo(ChronoUnit.MILLIS);
        if (Duration.between(known, now).abs().compareTo(CLOCK_CHANGE) < 0) {
            return known;
        }
        start = now;
        return now;
    }

    private static List<Map<String, Object>> shown(List<LatencyWindow.Point> points, Instant start) {
        return points.stream().map(point -> shown(point, start)).toList();
    }

    private static Map<String, Object> shown(LatencyWindow.Point point, Instant start) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("at", start.plusSeconds(point.second()).toString());
        json.put("seconds", point.seconds());
        putTimes(json, point);
        return json;
    }

    /** Adds the counts and times of a point to a map of JSON data. */
    static void putTimes(Map<String, Object> into, LatencyWindow.Point point) {
        into.put("calls", point.calls());
        into.put("failed", point.failed());
        into.put("late", point.late());
        into.put("p50Millis", rounded(point.p50Millis()));
        into.put("p99Millis", rounded(point.p99Millis()));
        into.put("maxMillis", rounded(point.maxMillis()));
    }

    static double rounded(double value) {
        return Math.round(value * 1_000) / 1_000.0;
    }
}
