package tern.rpc.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import tern.rpc.NanoClock;
import tern.rpc.Pace;

/**
 * Remembers how much memory the recent large results of one method needed. The memory of a result is at most the memory
 * that the thread allocated while it ran the method and encoded the result. A method may also allocate much for other
 * purposes, so the memory is also limited by the size of the encoded result. The largest result counts, and counts half
 * every {@link #HALF_LIFE_NANOS}. Thread-safe; a lost update does no harm.
 *
 * <p>The first calls are not limited, because nothing is known of their results.
 */
final class ResultSizes {

    /** Results that need less memory than this are not limited. */
    static final int LARGE_KIB = 256;

    /** The maximum memory of a result for each byte of its encoded form. */
    static final int MAX_PER_BYTE = 24;

    /** The assumed memory of a result for each byte of its encoded form, if the allocated memory is not known. */
    static final int ASSUMED_PER_BYTE = 8;

    static final long HALF_LIFE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** From this size of an encoded result on, the memory that later calls of the method allocate is measured. */
    static final int MEASURED_BYTES = 8 << 10;

    private static final Duration BETWEEN_UNSENT = Duration.ofSeconds(1);

    private final NanoClock clock;
    private volatile boolean measured; // true after a result that was not small
    private volatile long kib; // the memory of the largest recent result; 0 if no result was large
    private volatile long sinceNanos;
    private final Pace unsent; // limits how often a result is encoded only to measure it

    ResultSizes(NanoClock clock) {
        this.clock = clock;
        this.unsent = new Pace(1, BETWEEN_UNSENT, clock);
    }

    /**
     * Returns whether to encode a result that is not sent, because its call has ended. Callers could otherwise cause large
     * results that are never measured, by leaving before they get them.
     */
    boolean measuresUnsent() {
        return unsent.take();
    }

    /** Returns whether to measure the memory that the next call allocates. Methods with small results do not pay for it. */
    boolean measures() {
        return measured;
    }

    /** Returns the expected memory of the next result, in KiB; 0 if it need not be limited. */
    long expectedKib() {
        return kib == 0 ? 0 : expectedKib(clock.nanoTime());
    }

    private long expectedKib(long now) {
        long periods = (now - sinceNanos) / HALF_LIFE_NANOS;
        long left = periods >= Long.SIZE ? 0 : kib >> periods;
        return left < LARGE_KIB ? 0 : left;
    }

    /**
     * Called when the method has returned and its result has been encoded.
     *
     * @param allocatedBytes the memory that the thread allocated for the call; 0 or negative if it is unknown
     * @param encoded the size of the encoded result; 0 if the result was not encoded, and negative if the size is unknown
     */
    void returned(long allocatedBytes, int encoded) {
        if (encoded >= MEASURED_BYTES && !measured) {
            measured = true;
        }
        if (encoded <= 0 || (allocatedBytes > 0 && allocatedBytes >> 10 < LARGE_KIB)) {
            return;
        }
        long memory = allocatedBytes > 0
                ? Math.min(allocatedBytes, (long) encoded * MAX_PER_BYTE)
                : (long) encoded * ASSUMED_PER_BYTE;
        long now = clock.nanoTime();
        if (memory >> 10 >= LARGE_KIB && memory >> 10 > expectedKib(now)) {
            kib = memory >> 10;
            sinceNanos = now;
        }
    }
}
