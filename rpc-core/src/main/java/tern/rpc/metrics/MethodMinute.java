package tern.rpc.metrics;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The calls to one method in the last minute, in seven slots of 10 s. Recording is lock-free and allocates memory once
 * every 10 s. Percentiles are at most 12.5 % too high. Thread-safe.
 */
final class MethodMinute {

    private static final int SLOTS = 7;
    private static final int SLOT_SECONDS = 10;
    private static final int PRECISION_BITS = 3;
    private static final int BUCKETS = 32 << PRECISION_BITS;

    private final long targetNanos;
    // The 10-second slots; null until the method's first call.
    private volatile @Nullable AtomicReferenceArray<Slot> slots;

    MethodMinute(long targetNanos) {
        this.targetNanos = targetNanos;
    }

    private static final class Slot {
        final long tick;
        final AtomicIntegerArray counts = new AtomicIntegerArray(BUCKETS);
        final AtomicLong late = new AtomicLong();
        final AtomicLong failed = new AtomicLong();
        final AtomicLong maxNanos = new AtomicLong();

        Slot(long tick) {
            this.tick = tick;
        }
    }

    /** @param second the current second on the clock that times the calls */
    void ended(long tookNanos, boolean failed, long second) {
        Slot slot = slotOf(Math.floorDiv(second, SLOT_SECONDS));
        slot.counts.incrementAndGet(Buckets.of(TimeUnit.NANOSECONDS.toMicros(tookNanos), PRECISION_BITS, BUCKETS));
        if (tookNanos > targetNanos) {
            slot.late.incrementAndGet();
        }
        if (failed) {
            slot.failed.incrementAndGet();
        }
        long max = slot.maxNanos.get();
        while (tookNanos > max && !slot.maxNanos.compareAndSet(max, tookNanos)) {
            max = slot.maxNanos.get();
        }
    }

    private Slot slotOf(long tick) {
        AtomicReferenceArray<Slot> all = allSlots();
        int index = Math.floorMod(tick, SLOTS);
        while (true) {
            Slot slot = all.get(index);
            if (slot != null && slot.tick >= tick) {
                return slot;
            }
            Slot fresh = new Slot(tick);
            if (all.compareAndSet(index, slot, fresh)) {
                return fresh;
            }
        }
    }

    private AtomicReferenceArray<Slot> allSlots() {
        AtomicReferenceArray<Slot> known = slots;
        return known != null ? known : createSlots();
    }

    private synchronized AtomicReferenceArray<Slot> createSlots() {
        AtomicReferenceArray<Slot> known = slots;
        if (known == null) {
            known = new AtomicReferenceArray<>(SLOTS);
            slots = known;
        }
        return known;
    }

    /** Returns the totals of the last 60 to 70 s, or null if there were no calls. */
    LatencyWindow.@Nullable Point sum(long second) {
        AtomicReferenceArray<Slot> all = slots;
        if (all == null) {
            return null;
        }
        long last = Math.floorDiv(second, SLOT_SECONDS);
        long[] counts = new long[BUCKETS];
        long calls = 0;
        long late = 0;
        long failed = 0;
        long max = 0;
        for (int i = 0; i < SLOTS; i++) {
            Slot slot = all.get(i);
            if (slot == null || slot.tick <= last - SLOTS) {
                continue;
            }
            for (int bucket = 0; bucket < BUCKETS; bucket++) {
                int count = slot.counts.get(bucket);
                counts[bucket] += count;
                calls += count;
            }
            late += slot.late.get();
            failed += slot.failed.get();
            max = Math.max(max, slot.maxNanos.get());
        }
        if (calls == 0) {
            return null;
        }
        long first = (last - SLOTS + 1) * SLOT_SECONDS;
        return new LatencyWindow.Point(
                first,
                (int) (second - first),
                calls,
                failed,
                late,
                millis(counts, calls, 0.50, max),
                millis(counts, calls, 0.99, max),
                max / 1e6);
    }

    private static double millis(long[] counts, long calls, double share, long maxNanos) {
        return Math.min(Buckets.percentile(counts, calls, share, PRECISION_BITS) / 1_000.0, maxNanos / 1e6);
    }
}
