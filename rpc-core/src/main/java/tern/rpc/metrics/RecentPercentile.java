package tern.rpc.metrics;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import tern.rpc.NanoClock;

/**
 * A percentile of the durations recorded in the last {@value #WINDOW_SECONDS} to 20 s. Adding a duration is lock-free,
 * and reading the percentile is cheap. Thread-safe, but a value added while a window is ending can be lost.
 */
public final class RecentPercentile {

    private static final int WINDOW_SECONDS = 10;
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(WINDOW_SECONDS);

    /** The minimum interval between two computations of the percentile. */
    private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** The minimum number of values from which the percentile is computed. */
    private static final int MIN_TIMES = 20;

    private static final int PRECISION_BITS = 3;
    private static final int BUCKETS = 32 << PRECISION_BITS;

    private final NanoClock clock;
    private final double share;
    private volatile AtomicIntegerArray current = new AtomicIntegerArray(BUCKETS);
    private volatile AtomicIntegerArray before = new AtomicIntegerArray(BUCKETS);
    private volatile long percentileNanos = -1;
    private volatile long freshUntil;
    private long windowEnd; // guarded by this

    /** @param share the percentile as a fraction, such as 0.95 */
    public RecentPercentile(NanoClock clock, double share) {
        this.clock = clock;
        this.share = share;
        this.windowEnd = clock.nanoTime() + WINDOW_NANOS;
        this.freshUntil = clock.nanoTime();
    }

    public void add(long tookNanos) {
        current.incrementAndGet(Buckets.of(TimeUnit.NANOSECONDS.toMicros(tookNanos), PRECISION_BITS, BUCKETS));
    }

    /**
     * Returns the percentile, or a negative number if there are too few values. The percentile is at most 12.5 % too
     * high.
     */
    public long percentileNanos() {
        long now = clock.nanoTime();
        if (now - freshUntil >= 0) {
            update(now);
        }
        return percentileNanos;
    }

    private synchronized void update(long now) {
        if (now - windowEnd >= 0) {
            boolean idle = now - windowEnd >= WINDOW_NANOS;
            before = idle ? new AtomicIntegerArray(BUCKETS) : current;
            current = new AtomicIntegerArray(BUCKETS);
            windowEnd = now + WINDOW_NANOS;
        }
        long[] counts = new long[BUCKETS];
        long all = 0;
        for (int i = 0; i < BUCKETS; i++) {
            counts[i] = (long) current.get(i) + before.get(i);
            all += counts[i];
        }
        percentileNanos = all < MIN_TIMES
                ? -1
                : TimeUnit.MICROSECONDS.toNanos(Buckets.percentile(counts, all, share, PRECISION_BITS));
        freshUntil = now + FRESH_NANOS;
    }
}
