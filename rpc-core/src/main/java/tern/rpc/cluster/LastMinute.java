package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/**
 * Computes the number of calls in the last minute from a monotonic counter, in intervals of ten seconds. The number
 * must be read at least once every ten seconds while there are calls. Thread-safe.
 */
final class LastMinute {

    private static final long PART_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final int[] parts = new int[6]; // This object's lock guards "parts", "current", beginNanos and callsBefore.
    private int current;
    private long beginNanos;
    private long callsBefore; // The value of the call counter at the start of the current ten-second interval.

    LastMinute(long now) {
        this.beginNanos = now;
    }

    /**
     * Returns the number of calls in the last 50 to 60 s.
     *
     * @param calls the total number of calls so far
     */
    synchronized long of(long calls, long now) {
        parts[current] = (int) (calls - callsBefore);
        long over = (now - beginNanos) / PART_NANOS;
        if (over > 0) {
            for (long i = Math.min(over, parts.length); i > 0; i--) {
                current = (current + 1) % parts.length;
                parts[current] = 0;
            }
            beginNanos += over * PART_NANOS;
            callsBefore = calls;
        }
        long sum = 0;
        for (int part : parts) {
            sum += part;
        }
        return sum;
    }
}
