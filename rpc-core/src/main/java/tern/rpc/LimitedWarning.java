package tern.rpc;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Logs a warning for each of several calls, but at most {@value #MAX_PER_SECOND} lines a second. The next line contains
 * the number of suppressed warnings. Unlike {@code SeldomWarning}, it logs each of a few warnings, because each of them
 * has its own text, such as an id that the caller has received. Thread-safe.
 */
public final class LimitedWarning {

    /** The maximum number of lines per second (docs/limits.md). */
    public static final int MAX_PER_SECOND = 20;

    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Logger log;
    private final NanoClock clock;
    private final AtomicLong began; // the time at which the current second began
    private final AtomicInteger written = new AtomicInteger(); // lines of the current second
    private final AtomicInteger heldBack = new AtomicInteger();

    public LimitedWarning(Logger log, NanoClock clock) {
        this.log = log;
        this.clock = clock;
        this.began = new AtomicLong(clock.nanoTime());
    }

    /**
     * @param message supplies the message; called only if the line is written
     * @return whether the line was written
     */
    public boolean warn(Supplier<String> message) {
        return warn(message, null);
    }

    /**
     * @param message supplies the message; called only if the line is written
     * @param cause the exception to log with its stack trace; may be null
     * @return whether the line was written
     */
    public boolean warn(Supplier<String> message, @Nullable Throwable cause) {
        long now = clock.nanoTime();
        long second = began.get();
        if (now - second >= SECOND_NANOS && began.compareAndSet(second, now)) {
            written.set(0);
        }
        // the first comparison keeps the counter from overflowing
        if (written.get() >= MAX_PER_SECOND || written.incrementAndGet() > MAX_PER_SECOND) {
            heldBack.incrementAndGet();
            return false;
        }
        int more = heldBack.getAndSet(0);
        String told = more == 0 ? message.get() : message.get() + " (" + more + " more of the kind were not logged)";
        if (cause == null) {
            log.warn(told);
        } else {
            Thrown.log(cause, shown -> log.warn(told, shown));
        }
        return true;
    }
}
