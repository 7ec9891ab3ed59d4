package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/**
 * Delays frequent changes, so that a source that changes all the time costs little. The first change passes at once.
 * The next one passes 100 ms later, and the gap doubles up to one second while changes go on. After a second without
 * a change the gap is 100 ms again. Not thread-safe.
 */
final class Coalescing {

    static final long MIN_GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    static final long MAX_GAP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private boolean passedAny;
    private long passedNanos;
    private long gapNanos = MIN_GAP_NANOS;

    /**
     * A change has arrived.
     *
     * @return the time until it may pass; 0 for at once
     */
    long delay(long now) {
        if (!passedAny || now - passedNanos >= gapNanos + MAX_GAP_NANOS) {
            gapNanos = MIN_GAP_NANOS;
            return 0;
        }
        return Math.max(0, passedNanos + gapNanos - now);
    }

    /** Records that a change passes now. */
    void passed(long now) {
        boolean quick = passedAny && now - passedNanos < gapNanos + MAX_GAP_NANOS;
        gapNanos = quick ? Math.min(MAX_GAP_NANOS, 2 * gapNanos) : MIN_GAP_NANOS;
        passedAny = true;
        passedNanos = now;
    }
}
