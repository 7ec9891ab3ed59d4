package tern.rpc.netty;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import tern.rpc.NanoClock;

/**
 * Permits one connection attempt every half second for calls that find no connection. Such an attempt can reach a
 * restarted provider without waiting for the end of a long reconnect pause. Thread-safe.
 */
final class AttemptPace {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final NanoClock clock;
    private final AtomicLong nextNanos;

    AttemptPace(NanoClock clock) {
        this.clock = clock;
        this.nextNanos = new AtomicLong(clock.nanoTime());
    }

    /** Returns whether half a second has passed since the last attempt started. */
    boolean isDue() {
        return clock.nanoTime() - nextNanos.get() >= 0;
    }

    /** Returns whether the calling thread may start an attempt now. If so, the thread must start an attempt. */
    boolean mayBegin() {
        long now = clock.nanoTime();
        long next = nextNanos.get();
        return now - next >= 0 && nextNanos.compareAndSet(next, now + PAUSE_NANOS);
    }
}
