package tern.rpc.load.peer;

import java.util.List;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * The latency charts of one scenario: a chart with one percentile curve per framework, and one histogram per framework.
 * The charts combine the latencies of all rounds.
 */
final class LatencyCharts {

    private static final int WIDTH = 640;
    private static final int LEFT = 60;
    private static final int RIGHT = 36;
    private static final int CURVES_HEIGHT = 260;
    private static final int LABELS = 130;
    private static final int STRIP = 34;
    private static final int AXIS = 22;

    /** The percentiles that are marked on the axis, from 0 to 99.99. */
    private static final List<Double> MARKS = List.of(0.0, 50.0, 90.0, 99.0, 99.9, 99.99);

    private static final double LAST_PERCENTILE = 99.99;
    private static final double STEP = 0.05;
    private static final double NANOS_PER_MILLI = 1e6;

    /** The number of bars per decade of latency. */
    private static final int BARS = 16;

    private final Results results;

    LatencyCharts(Results results) {
        this.results = results;
    }

    /** Returns the CSS class for the curve of the framework with the given index. */
    static String style(int peer) {
        return "c" + peer % 8 + (peer >= 8 ? " dashed" : "");
    }

    String curves(Scene scene) {
        Svg svg = new Svg(WIDTH, CURVES_HEIGHT, "percentiles of latency in " + scene.name());
        double bottom = CURVES_HEIGHT - AXIS;
        LogScale latency = latencies(scene, bottom, 10);
        for (double decade : latency.decades()) {
            svg.line("grid", LEFT, latency.at(decade), WIDTH - RIGHT, latency.at(decade));
            svg.text(LEFT - 6, latency.at(decade) + 4, "end", millis(decade));
        }
        for (double mark : MARKS) {
            svg.line("grid", x(mark), 10, x(mark), bottom);
            svg.text(x(mark), bottom + 16, "middle", percent(mark));
        }
        for (int i = 0; i < results.peers().size(); i++) {
            Outcome outcome = results.of(results.peers().get(i), scene);
            if (outcome.isMeasured()) {
                svg.curve(
                        "curve " + style(i),
                        points(outcome.latencies(), latency),
                        results.peers().get(i) + ": p99 " + millis(outcome.millisAt(99)));
            }
        }
        return svg.xml();
    }

    private static String points(Histogram latencies, LogScale scale) {
        StringBuilder points = new StringBuilder();
        double last = nines(LAST_PERCENTILE);
        for (double nines = 0; nines <= last; nines += STEP) {
            double percentile = 100 * (1 - Math.pow(10, -nines));
            double value = latencies.getValueAtPercentile(percentile) / NANOS_PER_MILLI;
            points.append(Svg.point(x(percentile), scale.at(value)));
        }
        return points.toString().strip();
    }

    /** Returns the number of nines in a percentile, for example 1 for 90 and 3 for 99.9. */
    static double nines(double percentile) {
        return -Math.log10(1 - percentile / 100);
    }

    private static double x(double percentile) {
        return LEFT + (WIDTH - LEFT - RIGHT) * Math.min(1, nines(percentile) / nines(LAST_PERCENTILE));
    }

    private LogScale latencies(Scene scene, double from, double to) {
        double least = Double.MAX_VALUE;
        double most = 0;
        for (String peer : results.peers()) {
            Outcome outcome = results.of(peer, scene);
            if (outcome.isMeasured()) {
                least = Math.min(least, Math.max(0.001, outcome.latencies().getMinValue() / NANOS_PER_MILLI));
                most = Math.max(most, outcome.maxMillis());
            }
        }
        return most == 0 ? LogScale.around(1, 10, from, to) : LogScale.around(least, most, from, to);
    }

    String histograms(Scene scene) {
        int peers = results.peers().size();
        int height = peers * STRIP + AXIS + 4;
        Svg svg = new Svg(WIDTH, height, "histograms of latency in " + scene.name());
        LogScale latency = latencies(scene, LABELS, WIDTH - RIGHT);
        for (double decade : latency.decades()) {
            svg.line("grid", latency.at(decade), 0, latency.at(decade), height - AXIS);
            svg.text(latency.at(decade), height - 6, "middle", millis(decade));
        }
        for (int i = 0; i < peers; i++) {
            String peer = results.peers().get(i);
            Outcome outcome = results.of(peer, scene);
            double base = (i + 1.0) * STRIP;
            svg.text(LABELS - 10, base - 6, "end", peer);
            svg.line("axis", LABELS, base, WIDTH - RIGHT, base);
            if (outcome.isMeasured()) {
                strip(svg, "fill " + style(i).replace(" dashed", ""), outcome.latencies(), latency, base);
            }
        }
        return svg.xml();
    }

    private static void strip(Svg svg, String style, Histogram latencies, LogScale scale, double base) {
        int bars = scale.decades().size() * BARS;
        long[] calls = new long[bars];
        for (HistogramIterationValue value : latencies.recordedValues()) {
            double millis = Math.max(scale.least(), value.getValueIteratedTo() / NANOS_PER_MILLI);
            int bar = (int) (Math.log10(millis / scale.least()) * BARS);
            calls[Math.min(bars - 1, bar)] += value.getCountAddedInThisIterationStep();
        }
        long most = 1;
        for (long count : calls) {
            most = Math.max(most, count);
        }
        for (int i = 0; i < bars; i++) {
            if (calls[i] > 0) {
                double from = scale.least() * Math.pow(10, (double) i / BARS);
                double to = scale.least() * Math.pow(10, (i + 1.0) / BARS);
                double height = Math.max(1, (STRIP - 6.0) * calls[i] / most);
                svg.bar(
                        style,
                        scale.at(from),
                        base - height,
                        Math.max(1, scale.at(to) - scale.at(from) - 1),
                        height,
                        millis(from) + " to " + millis(to) + ": " + calls[i] + " calls");
            }
        }
    }

    private static String millis(double value) {
        if (value < 1) {
            return ResultTable.number(value * 1_000, 0) + " µs";
        }
        return value < 1_000
                ? ResultTable.number(value, value < 10 && value % 1 != 0 ? 1 : 0) + " ms"
                : ResultTable.number(value / 1_000, value % 1_000 == 0 ? 0 : 1) + " s";
    }

    private static String percent(double mark) {
        return mark == 0 ? "least" : "p" + (mark % 1 == 0 ? String.valueOf((int) mark) : String.valueOf(mark));
    }
}
