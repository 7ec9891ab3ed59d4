package tern.rpc.load.cluster;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Counts the calls in one run by the second in which they were scheduled to start. Thread-safe. */
final class Timeline {

    /** The number of measured seconds before the fault begins. */
    static final int BEFORE = 5;

    static final int FAULT = 20;
    static final int AFTER = 8;

    /** Response times are not measured for this number of seconds after the start of a fault. */
    static final int SETTLED = 3;

    private static final int SECONDS = BEFORE + FAULT + AFTER;

    private final long start;
    private final AtomicLongArray calls = new AtomicLongArray(SECONDS);
    private final AtomicLongArray failed = new AtomicLongArray(SECONDS);
    private final AtomicIntegerArray failedByClient;
    private volatile String firstFailure = "";
    private final Histogram healthyMicros = new ConcurrentHistogram(TimeUnit.MINUTES.toMicros(1), 3);
    private final Histogram faultMicros = new ConcurrentHistogram(TimeUnit.MINUTES.toMicros(1), 3);

    /** @param start the beginning of the first second, on the clock of {@link System#nanoTime()} */
    Timeline(long start, int clients) {
        this.start = start;
        this.failedByClient = new AtomicIntegerArray(clients);
    }

    void ended(int client, long intended, @Nullable Throwable failure) {
        long second = Math.floorDiv(intended - start, TimeUnit.SECONDS.toNanos(1));
        if (second < 0 || second >= SECONDS) {
            return;
        }
        int at = (int) second;
        calls.incrementAndGet(at);
        if (failure != null) {
            if (firstFailure.isEmpty()) {
                firstFailure = failure.toString();
            }
            failed.incrementAndGet(at);
            if (at >= BEFORE && at < BEFORE + FAULT) {
                failedByClient.incrementAndGet(client);
            }
            return;
        }
        long micros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - intended);
        if (at < BEFORE) {
            healthyMicros.recordValue(micros);
        } else if (at >= BEFORE + SETTLED && at < BEFORE + FAULT) {
            faultMicros.recordValue(micros);
        }
    }

    long callsInFault() {
        return sum(calls);
    }

    long failedInFault() {
        return sum(failed);
    }

    private static long sum(AtomicLongArray counts) {
        long sum = 0;
        for (int i = BEFORE; i < BEFORE + FAULT; i++) {
            sum += counts.get(i);
        }
        return sum;
    }

    /** Returns the description of an early failure in the run, or an empty string if no call failed. */
    String firstFailure() {
        return firstFailure;
    }

    int mostOfOneClient() {
        int most = 0;
        for (int i = 0; i < failedByClient.length(); i++) {
            most = Math.max(most, failedByClient.get(i));
        }
        return most;
    }

    double healthyP99Millis() {
        return healthyMicros.getValueAtPercentile(99) / 1e3;
    }

    /**
     * Returns the 99th percentile of the response times during the fault, excluding the first {@link #SETTLED} seconds.
     */
    double faultP99Millis() {
        return faultMicros.getValueAtPercentile(99) / 1e3;
    }

    int seconds() {
        return SECONDS;
    }

    /** Returns the share of failed calls in one second, in percent. */
    double failedPercent(int second) {
        long all = calls.get(second);
        return all == 0 ? 0 : 100.0 * failed.get(second) / all;
    }
}
