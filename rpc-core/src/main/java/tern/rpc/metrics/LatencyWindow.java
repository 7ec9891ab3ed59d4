package tern.rpc.metrics;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import tern.rpc.NanoClock;

/**
 * The response times of the last minute, with one slot per second. Recording is lock-free and allocates memory once
 * per second. Values are accurate to 3 %. Thread-safe.
 */
public final class LatencyWindow {

    private static final int SECONDS = 60;

    /** The binary logarithm of the number of buckets per doubling: 2^5 = 32. */
    private static final int PRECISION_BITS = 5;

    /**
     * The buckets cover times up to 2^36 microseconds, about 19 hours. The last bucket also contains all longer times.
     */
    private static final int BUCKETS = 32 << PRECISION_BITS;

    private final AtomicReferenceArray<Slot> slots = new AtomicReferenceArray<>(SECONDS + 1);
    private final NanoClock clock;
    private final long targetNanos;
    private final long bornSecond;

    /** @param targetNanos calls that take longer than this are counted as slow */
    public LatencyWindow(NanoClock clock, long targetNanos) {
        this.clock = clock;
        this.targetNanos = targetNanos;
        this.bornSecond = second();
    }

    private static final class Slot {
        final long second;
        final AtomicIntegerArray counts = new AtomicIntegerArray(BUCKETS);
        final AtomicLong slow = new AtomicLong();
        final AtomicLong failed = new AtomicLong();
        final AtomicLong maxNanos = new AtomicLong();

        Slot(long second) {
            this.second = second;
        }
    }

    /**
     * Records a call.
     *
     * @param failed whether the call failed with an exception that its method does not declare
     */
    public void record(long nanos, boolean failed) {
        Slot slot = slotOf(second());
        slot.counts.incrementAndGet(Buckets.of(nanos / 1_000, PRECISION_BITS, BUCKETS));
        if (nanos > targetNanos) {
            slot.slow.incrementAndGet();
        }
        if (failed) {
            slot.failed.incrementAndGet();
        }
        long max = slot.maxNanos.get();
        while (nanos > max && !slot.maxNanos.compareAndSet(max, nanos)) {
            max = slot.maxNanos.get();
        }
    }

    private Slot slotOf(long second) {
        int index = Math.floorMod(second, SECONDS + 1);
        while (true) {
            Slot slot = slots.get(index);
            if (slot != null && slot.second >= second) {
                return slot;
            }
            Slot fresh = new Slot(second);
            if (slots.compareAndSet(index, slot, fresh)) {
                return fresh;
            }
        }
    }

    private long second() {
        return TimeUnit.NANOSECONDS.toSeconds(clock.nanoTime());
    }

    /**
     * The values of the last full seconds, at most 60.
     *
     * @param seconds the number of full seconds
     * @param p50Millis the median; like the other percentiles, 0 if there were no calls
     */
    public record Report(
            long calls,
            int seconds,
            double qps,
            double p50Millis,
            double p99Millis,
            double maxMillis,
            double shareOverTarget,
            double shareFailed) {}

    public Report report() {
        long now = second();
        long[] counts = new long[BUCKETS];
        long slow = 0;
        long failed = 0;
        long max = 0;
        long total = 0;
        for (int i = 0; i < slots.length(); i++) {
            Slot slot = slots.get(i);
            if (slot == null || slot.second >= now || slot.second < now - SECONDS) {
                continue;
            }
            for (int bucket = 0; bucket < BUCKETS; bucket++) {
                counts[bucket] += slot.counts.get(bucket);
                total += slot.counts.get(bucket);
            }
            slow += slot.slow.get();
            failed += slot.failed.get();
            max = Math.max(max, slot.maxNanos.get());
        }
        int seconds = (int) Math.max(1, Math.min(SECONDS, now - bornSecond));
        return new Report(
                total,
                seconds,
                (double) total / seconds,
                percentile(counts, total, 0.50, max),
                percentile(counts, total, 0.99, max),
                max / 1e6,
                total == 0 ? 0 : (double) slow / total,
                total == 0 ? 0 : (double) failed / total);
    }

    /**
     * Returns the percentile in milliseconds. It is at most the longest time, which the upper bound of a bucket may
     * exceed.
     */
    private static double percentile(long[] counts, long total, double share, long maxNanos) {
        return Math.min(Buckets.percentile(counts, total, share, PRECISION_BITS) / 1_000.0, maxNanos / 1e6);
    }
}
