package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/**
 * Delays frequent changes, so that a constantly changing source causes little work. The first change is passed on
 * immediately. The next change is passed on after a gap of 100 ms. While changes continue, the gap doubles up to one
 * second. If no change arrives for one second after the gap, the gap is 100 ms again. Not thread-safe.
 */
public final class Coalescing {

    static final long MIN_GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    static final long MAX_GAP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private boolean passedAny;
    private long passedNanos;
    private long gapNanos = MIN_GAP_NANOS;

    /**
     * Returns how long a change that has just arrived must wait, in nanoseconds; 0 if it can be passed on immediately.
     */
    public long delay(long now) {
        if (!passedAny || now - passedNanos >= gapNanos + MAX_GAP_NANOS) {
            gapNanos = MIN_GAP_NANOS;
            return 0;
        }
        return Math.max(0, passedNanos + gapNanos - now);
    }

    /**
     * Returns how much longer an urgent, already delayed change must wait, in nanoseconds. An urgent change is passed
     * on 100 ms after the previous change, even if frequent changes have made the gap longer.
     */
    public long shortestDelay(long now) {
        return passedAny ? Math.max(0, passedNanos + MIN_GAP_NANOS - now) : 0;
    }

    /** Records that a change has been passed to its consumer. */
    public void passed(long now) {
        boolean quick = passedAny && now - passedNanos < gapNanos + MAX_GAP_NANOS;
        gapNanos = quick ? Math.min(MAX_GAP_NANOS, 2 * gapNanos) : MIN_GAP_NANOS;
        passedAny = true;
        passedNanos = now;
    }
}
