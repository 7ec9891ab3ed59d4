package tern.rpc.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;
import tern.rpc.load.Tally.ErrorCount;

/**
 * The result of a run, including whether the run passed.
 *
 * @param rows one row for each step of the scenario
 * @param total the sum of all steps; only this row counts unfinished calls as errors
 * @param errors for each kind of error, the first error's message and the number of errors
 * @param misses the reasons why the run failed; empty if it passed
 * @param distribution the latency histogram of the successful calls in all steps, without empty buckets
 */
public record LatencyReport(
        Load load,
        Target target,
        List<Row> rows,
        Row total,
        Map<String, ErrorCount> errors,
        List<String> misses,
        List<Bucket> distribution) {

    static final String UNFINISHED = "UNFINISHED";

    /**
     * One row of the table.
     *
     * @param calls the number of successful calls; the latencies include only these calls
     * @param qps the number of successful calls per second
     * @param within the share of calls that succeeded within the latency target, from 0 to 1
     */
    public record Row(
            String name,
            long calls,
            double qps,
            double p50Millis,
            double p90Millis,
            double p99Millis,
            double p999Millis,
            double maxMillis,
            long errors,
            double within) {}

    /**
     * One bar of the histogram. The upper bound of the first bar is 0.1 ms, and each subsequent upper bound is 1.25
     * times the previous one.
     *
     * @param upToMillis the exclusive upper bound; the lower bound is the previous bar's upper bound
     */
    public record Bucket(double upToMillis, long calls) {}

    public static LatencyReport of(Tally tally, Target target) {
        double seconds = seconds(tally, target);
        List<Row> rows = new ArrayList<>();
        // This constructor of Histogram copies the other histogram's settings but not its counts.
        Histogram all = new Histogram(tally.latencies(0));
        long failed = tally.missing();
        for (int step = 0; step < tally.scenario().steps().size(); step++) {
            Histogram latencies = tally.latencies(step);
            String name = tally.scenario().steps().get(step).name();
            rows.add(row(name, latencies, tally.errors(step), seconds, target));
            all.add(latencies);
            failed += tally.errors(step);
        }
        Row total = row("total", all, failed, seconds, target);
        return new LatencyReport(
                tally.load(),
                target,
                List.copyOf(rows),
                total,
                errors(tally),
                misses(total, target),
                distribution(all));
    }

    private static List<Bucket> distribution(Histogram latencies) {
        List<Bucket> buckets = new ArrayList<>();
        double from = 0;
        double to = 100; // the upper bound of the current bucket in µs
        while (from <= latencies.getMaxValue() && latencies.getTotalCount() > 0) {
            long calls = latencies.getCountBetweenValues((long) Math.ceil(from), (long) Math.ceil(to) - 1);
            if (calls > 0) {
                buckets.add(new Bucket(to / 1e3, calls));
            }
            from = to;
            to *= 1.25;
        }
        return List.copyOf(buckets);
    }

    /**
     * Returns the duration for computing the throughput, without the warm-up. The duration is the longer of two times:
     * the planned duration of the load, and the time until the last call ended minus the target latency.
     */
    private static double seconds(Tally tally, Target target) {
        Duration taken = tally.lastEnd().minus(tally.load().warmUp()).minus(target.latency());
        Duration planned = tally.load().duration();
        return (taken.compareTo(planned) > 0 ? taken : planned).toNanos() / 1e9;
    }

    private static Row row(String name, Histogram latencies, long errors, double seconds, Target target) {
        long calls = latencies.getTotalCount();
        long inTime = calls == 0
                ? 0
                : latencies.getCountBetweenValues(0, target.latency().toNanos() / 1_000);
        return new Row(
                name,
                calls,
                calls / seconds,
                latencies.getValueAtPercentile(50) / 1e3,
                latencies.getValueAtPercentile(90) / 1e3,
                latencies.getValueAtPercentile(99) / 1e3,
                latencies.getValueAtPercentile(99.9) / 1e3,
                latencies.getMaxValue() / 1e3,
                errors,
                calls + errors == 0 ? 0 : (double) inTime / (calls + errors));
    }

    private static Map<String, ErrorCount> errors(Tally tally) {
        Map<String, ErrorCount> errors = new LinkedHashMap<>(tally.errorKinds());
        if (tally.missing() > 0) {
            errors.put(
                    UNFINISHED,
                    new ErrorCount(
                            tally.missing(),
                            "no answer, or no free user to start it, " + OpenLoopDriver.GRACE.toSeconds()
                                    + " s after the end"));
        }
        return errors;
    }

    private static List<String> misses(Row total, Target target) {
        List<String> misses = new ArrayList<>();
        if (Math.round(total.qps()) < Math.round(target.qps())) {
            misses.add(String.format(Locale.ROOT, "%.1f QPS, expected %.1f", total.qps(), target.qps()));
        }
        if (total.calls() == 0 || total.p99Millis() >= targetMillis(target)) {
            misses.add(
                    "p99 " + millis(total.p99Millis(), 0) + " ms, expected less than " + shortMillis(target) + " ms");
        }
        if (total.errors() > 0) {
            misses.add(total.errors() + " errors, expected none");
        }
        return List.copyOf(misses);
    }

    public boolean passed() {
        return misses.isEmpty();
    }

    /** Returns the run's table and result as text for a terminal. */
    public String toText() {
        StringBuilder text = new StringBuilder();
        line(
                text,
                "%s s at %s calls a second after %s s of warm-up. Open loop: times in ms, from when a call should have"
                        + " started.%n",
                seconds(load.duration()),
                number(load.rate()),
                seconds(load.warmUp()));
        int width = rows.stream().mapToInt(row -> row.name().length()).max().orElse(0);
        line(
                text,
                "%-" + width + "s %8s %8s %8s %8s %8s %8s %8s %7s %14s",
                "",
                "calls",
                "QPS",
                "p50",
                "p90",
                "p99",
                "p99.9",
                "max",
                "errors",
                "within " + shortMillis(target) + " ms");
        rows.forEach(row -> appendRow(text, row, width));
        appendRow(text, total, width);
        errors.forEach((kind, error) -> line(text, "%n%d × %s, the first: %s", error.count(), kind, error.first()));
        line(text, "%n%s", verdict());
        return text.toString();
    }

    private static void appendRow(StringBuilder text, Row row, int width) {
        line(
                text,
                "%-" + width + "s %8d %8.1f %s %s %s %s %s %7d %12s %%",
                row.name(),
                row.calls(),
                row.qps(),
                millis(row.p50Millis(), 8),
                millis(row.p90Millis(), 8),
                millis(row.p99Millis(), 8),
                millis(row.p999Millis(), 8),
                millis(row.maxMillis(), 8),
                row.errors(),
                percent(row.within()));
    }

    public String verdict() {
        return passed()
                ? String.format(
                        Locale.ROOT,
                        "PASS: %.1f QPS (target %s), p99 %s ms (target %s ms), no errors",
                        total.qps(),
                        number(target.qps()),
                        millis(total.p99Millis(), 0),
                        shortMillis(target))
                : "FAIL: " + String.join("; ", misses);
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
    }

    /** Formats a time with two decimals if it is below 100 ms, and with one decimal otherwise. */
    static String millis(double millis, int width) {
        String text = String.format(Locale.ROOT, millis < 99.995 ? "%.2f" : "%.1f", millis);
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }

    /** Formats a share as a percentage. The percentage is rounded down, so that only a share of 1 is shown as 100. */
    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.2f", Math.floor(share * 10_000) / 100);
    }

    private static String seconds(Duration duration) {
        return number(duration.toNanos() / 1e9);
    }

    private static double targetMillis(Target target) {
        return target.latency().toNanos() / 1e6;
    }

    private static String shortMillis(Target target) {
        return number(targetMillis(target));
    }

    private static String number(double value) {
        return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
    }
}
