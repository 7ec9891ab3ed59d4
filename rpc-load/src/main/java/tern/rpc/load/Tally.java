package tern.rpc.load;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/**
 * Counts the calls in a run. Records only the latencies of successful calls, in microseconds with three significant
 * digits. Calls during the warm-up are counted only in {@link #second}. Thread-safe.
 */
public final class Tally {

    private static final long MAX_MICROS = TimeUnit.MINUTES.toMicros(10);
    private static final int DIGITS = 3;
    private static final int MAX_ERROR_KINDS = 20;

    private final Scenario scenario;
    private final Load load;
    private final Histogram[] latencies;
    private final LongAdder[] errors;
    private final Map<String, ErrorCount> errorKinds = new ConcurrentHashMap<>();
    private final LongAccumulator lastEndNanos = new LongAccumulator(Math::max, 0);

    // The successes and errors since the last call to second().
    private final Recorder recentLatencies = new Recorder(MAX_MICROS, DIGITS);
    private final LongAdder recentErrors = new LongAdder();

    Tally(Scenario scenario, Load load) {
        int steps = scenario.steps().size();
        this.scenario = scenario;
        this.load = load;
        this.latencies = new Histogram[steps];
        this.errors = new LongAdder[steps];
        for (int i = 0; i < steps; i++) {
            latencies[i] = new ConcurrentHistogram(MAX_MICROS, DIGITS);
            errors[i] = new LongAdder();
        }
    }

    /**
     * The number of errors of one kind.
     *
     * @param first the message of the first of these errors
     */
    public record ErrorCount(long count, String first) {
        ErrorCount plus(ErrorCount other) {
            return new ErrorCount(count + other.count, first);
        }
    }

    /**
     * The counts of one second of a run.
     *
     * @param sinceStart the time from the start of the run to the end of this second
     * @param warmUp whether this second ended within the warm-up
     * @param calls the number of successful calls; the latencies include only these calls
     */
    public record Second(
            Duration sinceStart,
            boolean warmUp,
            long calls,
            long errors,
            double p50Millis,
            double p99Millis,
            double maxMillis) {

        public String toText() {
            return String.format(
                    "%4d s %6d calls   p50 %s ms   p99 %s ms   max %s ms   errors %d%s",
                    sinceStart.toSeconds(),
                    calls,
                    LatencyReport.millis(p50Millis, 7),
                    LatencyReport.millis(p99Millis, 7),
                    LatencyReport.millis(maxMillis, 7),
                    errors,
                    warmUp ? "   (warm-up)" : "");
        }
    }

    /** @param latencyNanos the time from the intended start of the call to its end */
    void record(long number, int step, long latencyNanos, @Nullable Throwable failure) {
        boolean counts = number >= load.warmUpCalls();
        if (failure == null) {
            long micros = Math.min(Math.max(0, TimeUnit.NANOSECONDS.toMicros(latencyNanos)), MAX_MICROS);
            recentLatencies.recordValue(micros);
            if (counts) {
                latencies[step].recordValue(micros);
                lastEndNanos.accumulate(load.startNanos(number) + latencyNanos);
            }
        } else {
            recentErrors.increment();
            if (counts) {
                errors[step].increment();
                countError(kindOf(failure), String.valueOf(failure.getMessage()));
            }
        }
    }

    private static String kindOf(Throwable failure) {
        return failure instanceof RpcException rpc
                ? rpc.code().name()
                : failure.getClass().getSimpleName();
    }

    private void countError(String kind, String message) {
        String known = errorKinds.size() < MAX_ERROR_KINDS || errorKinds.containsKey(kind) ? kind : "other";
        errorKinds.merge(known, new ErrorCount(1, message), ErrorCount::plus);
    }

    /** Returns the counts since the last call to this method, and resets them. Only one thread may call this method. */
    Second second(Duration sinceStart) {
        Histogram recent = recentLatencies.getIntervalHistogram();
        return new Second(
                sinceStart,
                sinceStart.compareTo(load.warmUp()) <= 0,
                recent.getTotalCount(),
                recentErrors.sumThenReset(),
                recent.getValueAtPercentile(50) / 1e3,
                recent.getValueAtPercentile(99) / 1e3,
                recent.getMaxValue() / 1e3);
    }

    Scenario scenario() {
        return scenario;
    }

    Load load() {
        return load;
    }

    Histogram latencies(int step) {
        return latencies[step].copy();
    }

    long errors(int step) {
        return errors[step].sum();
    }

    /** Returns the end time of the last successful call, relative to the beginning of the warm-up. */
    Duration lastEnd() {
        return Duration.ofNanos(lastEndNanos.get());
    }

    /**
     * Returns the errors by kind. The kind is the status code of an {@link RpcException}, or the class name of any
     * other exception.
     */
    Map<String, ErrorCount> errorKinds() {
        return new TreeMap<>(errorKinds);
    }

    /** Returns the number of calls that were never started or did not end within the grace period. */
    long missing() {
        long counted = 0;
        for (int step = 0; step < latencies.length; step++) {
            counted += latencies[step].getTotalCount() + errors[step].sum();
        }
        return Math.max(0, load.calls() - load.warmUpCalls() - counted);
    }
}
