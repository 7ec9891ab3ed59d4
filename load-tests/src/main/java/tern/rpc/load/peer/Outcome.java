package tern.rpc.load.peer;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * One scene of one peer: medians over its rounds, each figure for itself, and the latencies of all of them together.
 *
 * @param measured the rounds that took place
 * @param failure why a round did not, or the first wrong answer; empty if all is well
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

    /** CPU per call of both sides: the figure that decides. */
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

    long calls() {
        return measured.stream().mapToLong(Measurement::calls).sum();
    }

    double meanMillis() {
        return median(round -> round.latencies().getMean() / 1e6);
    }

    /** @param percentile 0 to 100 */
    double millisAt(double percentile) {
        return median(round -> round.latencies().getValueAtPercentile(percentile) / 1e6);
    }

    /** Of all rounds. */
    double maxMillis() {
        return measured.stream()
                .mapToDouble(round -> round.latencies().getMaxValue() / 1e6)
                .max()
                .orElse(Double.NaN);
    }

    /** Of all rounds. */
    Histogram latencies() {
        Histogram all = Load.newHistogram();
        measured.forEach(round -> all.add(round.latencies()));
        return all;
    }

    /** CPU per call, ours to theirs: below 1 is less. */
    double ratioTo(Outcome other) {
        return sumMicros() / other.sumMicros();
    }

    /** Not a number where the system does not tell. */
    private static double perCall(long used, Measurement round) {
        return used == ProcessCost.UNKNOWN ? Double.NaN : (double) used / round.calls();
    }

    private double median(ToDoubleFunction<Measurement> figure) {
        return median(measured.stream().mapToDouble(figure).toArray());
    }

    /** The middle one, or the mean of the two in the middle; not a number if there is none. */
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
