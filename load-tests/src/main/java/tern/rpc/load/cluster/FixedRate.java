package tern.rpc.load.cluster;

import java.util.concurrent.locks.LockSupport;

/** Starts steps at a fixed rate. A late step does not delay later steps. Used by one thread. */
final class FixedRate {

    private final long periodNanos;
    private long next = System.nanoTime();

    FixedRate(long periodNanos) {
        this.periodNanos = periodNanos;
    }

    /** Waits until the next step is due, and returns the time at which it was due. */
    long await() {
        next += periodNanos;
        for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        return next;
    }
}
