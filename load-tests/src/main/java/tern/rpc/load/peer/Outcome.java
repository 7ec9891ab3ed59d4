package tern.rpc.load.peer;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * One framework's result in one scenario: the median of each value over the rounds, and the latencies of all rounds
 * together.
 *
 * @param measured the results of the completed rounds
 * @param failure the reason why a round was not completed, or the first wrong answer; empty if all rounds succeeded
 */
record Outcome(List<Measurement> measured, String failure) {

    Outcome {
        measured = List.copyOf(measured);
    }

    boolean isMeasured() {
        return !measured.isEmpty();
    }

    double clientMicros() {
        return median(round -> round.client().cpuNanos() / 1e3 / round.calls());
    }

    double serverMicros() {
        return median(round -> round.server().cpuNanos() / 1e3 / round.calls());
    }

    /** Returns the CPU time that client and server together use per call, in microseconds. This is the main result. */
    double sumMicros() {
        return median(Outcome::sumMicros);
    }

    double leastSumMicros() {
        return measured.stream().mapToDouble(Outcome::sumMicros).min().orElse(Double.NaN);
    }

    double mostSumMicros() {
        return measured.stream().mapToDouble(Outcome::sumMicros).max().orElse(Double.NaN);
    }

    private static double sumMicros(Measurement round) {
        return (round.client().cpuNanos() + round.server().cpuNanos()) / 1e3 / round.calls();
    }

    double clientBytes() {
        return median(round -> perCall(round.client().bytes(), round));
    }

    double serverBytes() {
        return median(round -> perCall(round.server().bytes(), round));
    }

    double clientWrites() {
        return median(round -> perCall(round.client().writes(), round));
    }

    double serverWrites() {
        return median(round -> perCall(round.server().writes(), round));
    }

    double clientSwitches() {
        return median(round -> perCall(round.client().switches(), round));
    }

    double serverSwitches() {
        return median(round -> perCall(round.server().switches(), round));
    }

    double perSecond() {
        return median(round -> round.calls() / round.seconds());
    }

    long errors() {
        return measured.stream().mapToLong(Measurement::errors).sum();
    }

    double meanMillis() {
        return median(round -> round.latencies().getMean() / 1e6);
    }

    /**
     * Returns a percentile of the latencies in milliseconds.
     *
     * @param percentile the percentile, from 0 to 100
     */
    double millisAt(double percentile) {
        return median(round -> round.latencies().getValueAtPercentile(percentile) / 1e6);
    }

    /** Returns the maximum latency of all rounds, in milliseconds. */
    double maxMillis() {
        return measured.stream()
                .mapToDouble(round -> round.latencies().getMaxValue() / 1e6)
                .max()
                .orElse(Double.NaN);
    }

    /** Returns the latencies of all rounds in one histogram. */
    Histogram latencies() {
        Histogram all = Load.newHistogram();
        measured.forEach(round -> all.add(round.latencies()));
        return all;
    }

    /**
     * Returns this framework's CPU time per call, divided by the given framework's CPU time per call. A value below 1
     * means that this framework is better.
     */
    double ratioTo(Outcome other) {
        return sumMicros() / other.sumMicros();
    }

    /**
     * Returns the resource use per call, or NaN if the operating system does not report the use.
     *
     * @param used the use in the whole round
     */
    private static double perCall(long used, Measurement round) {
        return used == ProcessCost.UNKNOWN ? Double.NaN : (double) used / round.calls();
    }

    private double median(ToDoubleFunction<Measurement> figure) {
        return median(measured.stream().mapToDouble(figure).toArray());
    }

    /** Returns the middle value, or the mean of the two middle values. Returns NaN if there are no values. */
    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        if (sorted.length == 0) {
            return Double.NaN;
        }
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
