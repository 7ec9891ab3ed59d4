package tern.rpc.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;

/**
 * The response times of the last minute, with one slot per second, and a summary of each second of the last 15 minutes.
 * Recording is lock-free and allocates memory once per second. Values are accurate to 3 %. Thread-safe.
 *
 * <p>No separate thread is needed. Each slot is reused after a minute, and the first call that reuses a slot stores the
 * summary of its old content. The summaries take at most about 60 KB.
 */
public final class LatencyWindow {

    private static final int SECONDS = 60;

    /** The length of the history in seconds. A summary of each of these seconds is stored. */
    private static final int HISTORY_SECONDS = 15 * 60;

    /** The number of seconds that each point in {@link #series} covers if it is older than a minute. */
    private static final int COARSE_SECONDS = 10;

    /** The binary logarithm of the number of buckets per doubling: 2^5 = 32. */
    private static final int PRECISION_BITS = 5;

    /**
     * The buckets cover times up to 2^36 microseconds, about 19 hours. The last bucket also contains all longer times.
     */
    private static final int BUCKETS = 32 << PRECISION_BITS;

    private final AtomicReferenceArray<Slot> slots = new AtomicReferenceArray<>(SECONDS + 1);
    private final AtomicReferenceArray<Point> history = new AtomicReferenceArray<>(HISTORY_SECONDS);
    private final NanoClock clock;
    private final long targetNanos;
    private final long bornSecond;

    /** @param targetNanos the latency target; calls that take longer are counted as late */
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

        private volatile @Nullable Point point; // the summary of this slot's second; null until the second is over

        Slot(long second) {
            this.second = second;
        }

        void add(long nanos, boolean late, boolean failure) {
            // The maximum is stored first, because readers ignore all buckets above the maximum.
            long max = maxNanos.get();
            while (nanos > max && !maxNanos.compareAndSet(max, nanos)) {
                max = maxNanos.get();
            }
            counts.incrementAndGet(bucketOf(nanos));
            if (late) {
                slow.incrementAndGet();
            }
            if (failure) {
                failed.incrementAndGet();
            }
        }

        /**
         * Adds the counts of this slot to the counts of a histogram.
         *
         * @return the number of calls in this slot
         */
        long addTo(long[] sums) {
            long total = 0;
            int last = bucketOf(maxNanos.get());
            for (int bucket = 0; bucket <= last; bucket++) {
                int count = counts.get(bucket);
                sums[bucket] += count;
                total += count;
            }
            return total;
        }

        /**
         * Returns the summary of a past second. The summary does not include calls added to the slot later.
         */
        Point point() {
            Point known = point;
            if (known != null) {
                return known;
            }
            long[] copy = new long[BUCKETS];
            long total = addTo(copy);
            long max = maxNanos.get();
            Point made = new Point(
                    second,
                    1,
                    total,
                    failed.get(),
                    slow.get(),
                    percentile(copy, total, 0.50, max),
                    percentile(copy, total, 0.99, max),
                    max / 1e6);
            point = made;
            return made;
        }
    }

    /**
     * The calls in one or more seconds. For several seconds, the percentiles are approximations: the median is the mean
     * of the medians, weighted by calls, and the 99th percentile is the highest one.
     *
     * @param second the first second, on the clock that times the calls
     * @param seconds the number of seconds
     * @param failed the number of failed calls; an exception that the method declares and an answer that reports a
     *     mistake by the caller are not failures
     * @param late the number of calls that took longer than the latency target
     * @param p50Millis the median in milliseconds; like the other times, 0 if there were no calls
     */
    public record Point(
            long second,
            int seconds,
            long calls,
            long failed,
            long late,
            double p50Millis,
            double p99Millis,
            double maxMillis) {}

    /**
     * Records a call.
     *
     * @param failed whether the call failed; an exception that the method declares and an answer that reports a mistake
     *     by the caller are not failures
     * @return the current second on the clock that times the calls
     */
    public long record(long nanos, boolean failed) {
        long now = second();
        slotOf(now).add(nanos, nanos > targetNanos, failed);
        return now;
    }

    private static int bucketOf(long nanos) {
        return Buckets.of(nanos / 1_000, PRECISION_BITS, BUCKETS);
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
                if (slot != null && slot.second > second - HISTORY_SECONDS) {
                    history.set(Math.floorMod(slot.second, HISTORY_SECONDS), slot.point());
                }
                return fresh;
            }
        }
    }

    /**
     * The number and the response times of the calls in the last full seconds. At most 60 seconds are included.
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
            total += slot.addTo(counts);
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
     * Returns the current second on the clock that times the calls. The number can be compared with
     * {@link Point#second}.
     */
    public long second() {
        return TimeUnit.NANOSECONDS.toSeconds(clock.nanoTime());
    }

    /**
     * Returns the points of the last 15 minutes, or of the time since the start if this time is shorter. The oldest
     * point comes first. A point of the last minute covers one full second; an earlier point covers 10 s.
     */
    public List<Point> series() {
        return series(bornSecond);
    }

    /**
     * Returns the points of {@link #series()} that have changed since an earlier call: all one-second points after
     * {@code earlier}, and the ten-second points that have since replaced one-second points. The reader must replace
     * all of its points that cover the same seconds.
     *
     * @param earlier the value of {@link #second} just before the reader's previous call. If it is before the start or
     *     more than 14 minutes old, all points are returned
     */
    public List<Point> series(long earlier) {
        long now = second();
        long fine = now - SECONDS;
        long oldest = Math.max(bornSecond, now - HISTORY_SECONDS);
        long from = Math.max(oldest, earlier);
        List<Point> points = new ArrayList<>();
        long second = Math.max(oldest, tenOf(from - SECONDS));
        while (second < fine) {
            // Points are aligned to the clock, so that a point covers the same seconds in every report.
            long next = Math.min(fine, tenOf(second) + COARSE_SECONDS);
            points.add(sum(second, (int) (next - second)));
            second = next;
        }
        for (second = Math.max(fine, from); second < now; second++) {
            points.add(point(second));
        }
        return points;
    }

    /** Returns the first second of the 10-second block that contains the given second. */
    private static long tenOf(long second) {
        return Math.floorDiv(second, COARSE_SECONDS) * COARSE_SECONDS;
    }

    private Point point(long second) {
        Slot slot = slots.get(Math.floorMod(second, SECONDS + 1));
        if (slot != null && slot.second == second) {
            return slot.point();
        }
        Point past = history.get(Math.floorMod(second, HISTORY_SECONDS));
        return past != null && past.second() == second ? past : new Point(second, 1, 0, 0, 0, 0, 0, 0);
    }

    private Point sum(long first, int seconds) {
        long calls = 0;
        long failed = 0;
        long late = 0;
        double medians = 0;
        double p99 = 0;
        double max = 0;
        for (long second = first; second < first + seconds; second++) {
            Point one = point(second);
            calls += one.calls();
            failed += one.failed();
            late += one.late();
            medians += one.p50Millis() * one.calls();
            p99 = Math.max(p99, one.p99Millis());
            max = Math.max(max, one.maxMillis());
        }
        return new Point(first, seconds, calls, failed, late, calls == 0 ? 0 : medians / calls, p99, max);
    }

    /**
     * Returns the percentile in milliseconds: the upper bound of a bucket, but no more than the longest time.
     */
    private static double percentile(long[] counts, long total, double share, long maxNanos) {
        return Math.min(Buckets.percentile(counts, total, share, PRECISION_BITS) / 1_000.0, maxNanos / 1e6);
    }
}
