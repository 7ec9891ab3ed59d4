package tern.rpc.load.replay;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Records the actual delays of a proxy, which can exceed the intended delay. Thread-safe. */
final class DelayLog {

    private static final long MAX_MICROS = TimeUnit.MINUTES.toMicros(1);

    private final Histogram micros = new Histogram(MAX_MICROS, 3); // guarded by this

    synchronized void record(long nanos) {
        micros.recordValue(Math.min(MAX_MICROS, Math.max(0, TimeUnit.NANOSECONDS.toMicros(nanos))));
    }

    /** Returns the count, mean, 99th percentile and maximum of the delays as text. */
    synchronized String summary() {
        if (micros.getTotalCount() == 0) {
            return "not used";
        }
        return String.format(
                Locale.ROOT,
                "%.2f ms on average, p99 %.1f ms, at most %.1f ms, %d times",
                micros.getMean() / 1e3,
                micros.getValueAtPercentile(99) / 1e3,
                micros.getMaxValue() / 1e3,
                micros.getTotalCount());
    }
}
