package tern.rpc.load.cluster;

import java.util.concurrent.locks.LockSupport;

/**
 * Paces a loop at a fixed number of iterations per second. A late iteration does not delay later iterations. Used by
 * one thread.
 */
final class FixedRate {

    private final long periodNanos;
    private long next = System.nanoTime();

    FixedRate(long periodNanos) {
        this.periodNanos = periodNanos;
    }

    /** Waits until the next iteration is due. Returns the time when this iteration was due. */
    long await() {
        next += periodNanos;
        for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        return next;
    }
}
