package tern.rpc.limit;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import tern.rpc.NanoClock;
import tern.rpc.Thrown;

/**
 * A warning once in a while at the most, however often there is reason for it; the next one tells how many were held
 * back. What is held back costs one atomic operation. Thread-safe.
 */
public final class SeldomWarning {

    private final Logger log;
    private final NanoClock clock;
    private final long pauseNanos;
    private final AtomicLong nextNanos;
    private final AtomicInteger heldBack = new AtomicInteger();

    /** @param pause between two lines */
    public SeldomWarning(Logger log, NanoClock clock, Duration pause) {
        this.log = log;
        this.clock = clock;
        this.pauseNanos = pause.toNanos();
        this.nextNanos = new AtomicLong(clock.nanoTime());
    }

    public boolean warn(String message) {
        return warn(() -> message, null);
    }

    /**
     * @param message made only when it is written
     * @param cause written with its trace; null for none
     * @return whether it was written
     */
    public boolean warn(Supplier<String> message, @Nullable Throwable cause) {
        long now = clock.nanoTime();
        long next = nextNanos.get();
        if (now - next < 0 || !nextNanos.compareAndSet(next, now + pauseNanos)) {
            heldBack.incrementAndGet();
            return false;
        }
        int more = heldBack.getAndSet(0);
        String told =
                more == 0 ? message.get() : message.get() + " (" + more + " more of the kind since the last warning)";
        if (cause == null) {
            log.warn(told);
        } else {
            Thrown.log(cause, shown -> log.warn(told, shown));
        }
        return true;
    }
}
