package tern.rpc.netty;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import tern.rpc.NanoClock;

/** A warning once a minute at the most, however often peers give reason for it. Thread-safe. */
final class SeldomWarning {

    private static final long PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Logger log;
    private final NanoClock clock;
    private final AtomicLong nextNanos;
    private final AtomicInteger heldBack = new AtomicInteger();

    SeldomWarning(Logger log, NanoClock clock) {
        this.log = log;
        this.clock = clock;
        this.nextNanos = new AtomicLong(clock.nanoTime());
    }

    void warn(String message) {
        long now = clock.nanoTime();
        long next = nextNanos.get();
        if (now - next < 0 || !nextNanos.compareAndSet(next, now + PAUSE_NANOS)) {
            heldBack.incrementAndGet();
            return;
        }
        int more = heldBack.getAndSet(0);
        log.warn(more == 0 ? message : message + " (" + more + " more of the kind since the last warning)");
    }
}
