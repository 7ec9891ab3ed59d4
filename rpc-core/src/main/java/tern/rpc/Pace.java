package tern.rpc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Allows a limited number of actions per period. A refused action costs at most two atomic operations. Thread-safe. */
public final class Pace {

    private final int max;
    private final long periodNanos;
    private final NanoClock clock;
    private final AtomicLong began; // the start of the current period
    private final AtomicInteger taken; // the number of actions in the current period

    /** @param max the maximum number of actions in a period */
    public Pace(int max, Duration period, NanoClock clock) {
        this.max = max;
        this.periodNanos = period.toNanos();
        this.clock = clock;
        // one period ago, so that the first action starts a new period
        this.began = new AtomicLong(clock.nanoTime() - periodNanos);
        this.taken = new AtomicInteger(max);
    }

    /** Returns whether the action is allowed now. An allowed action is counted. */
    public boolean take() {
        long now = clock.nanoTime();
        long period = began.get();
        if (now - period >= periodNanos && began.compareAndSet(period, now)) {
            taken.set(0);
        }
        // The count is compared before it is incremented. Otherwise, many refused actions could make the counter
        // overflow.
        return taken.get() < max && taken.incrementAndGet() <= max;
    }
}
