package tern.rpc.netty;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import tern.rpc.NanoClock;

/**
 * Lets calls that find no connection start an attempt to connect, at most one every half second. A provider that has
 * returned is therefore reached before a long pause ends. Thread-safe.
 */
final class AttemptPace {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final NanoClock clock;
    private final AtomicLong nextNanos;

    AttemptPace(NanoClock clock) {
        this.clock = clock;
        this.nextNanos = new AtomicLong(clock.nanoTime());
    }

    /** Whether the pause after the last attempt is over. */
    boolean isDue() {
        return clock.nanoTime() - nextNanos.get() >= 0;
    }

    /** Whether the calling thread may start an attempt now. If true, it must do so. */
    boolean mayBegin() {
        long now = clock.nanoTime();
        long next = nextNanos.get();
        return now - next >= 0 && nextNanos.compareAndSet(next, now + PAUSE_NANOS);
    }
}
