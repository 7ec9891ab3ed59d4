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
 * Logs a repeated warning at a limited rate. Each logged line contains the number of warnings suppressed before it. A
 * suppressed warning costs one atomic operation. Thread-safe.
 */
public final class SeldomWarning {

    private final Logger log;
    private final NanoClock clock;
    private final long pauseNanos;
    private final AtomicLong nextNanos;
    private final AtomicInteger heldBack = new AtomicInteger();

    /**
     * @param pause the minimum time between two lines
     */
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
     * @param message supplies the message; called only if the line is written
     * @param cause the exception to log with its stack trace; may be null
     * @return whether the line was written
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
