package tern.rpc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Logs a repeated warning at a limited rate. The next logged line contains the number of warnings suppressed before it.
 * A suppressed warning costs at most two atomic operations. Thread-safe.
 */
public final class SeldomWarning {

    /** The maximum number of lines per second for warnings about single calls (docs/limits.md). */
    public static final int CALLS_PER_SECOND = 20;

    private final Logger log;
    private final Pace pace;
    private final AtomicInteger heldBack = new AtomicInteger();

    /**
     * Creates a warning that is logged at most once per period.
     *
     * @param pause the minimum time between two lines
     */
    public SeldomWarning(Logger log, NanoClock clock, Duration pause) {
        this(log, clock, 1, pause);
    }

    /**
     * Creates a warning about single calls. Up to {@value #CALLS_PER_SECOND} warnings per second are logged, because
     * each warning contains different information, such as an id that was sent to the caller.
     */
    public SeldomWarning(Logger log, NanoClock clock) {
        this(log, clock, CALLS_PER_SECOND, Duration.ofSeconds(1));
    }

    private SeldomWarning(Logger log, NanoClock clock, int lines, Duration period) {
        this.log = log;
        this.pace = new Pace(lines, period, clock);
    }

    public boolean warn(String message) {
        return warn(() -> message);
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
        if (!pace.take()) {
            heldBack.incrementAndGet();
            return false;
        }
        int more = heldBack.getAndSet(0);
        String text =
                more == 0 ? message.get() : message.get() + " (" + more + " more of the kind since the last warning)";
        if (cause == null) {
            log.warn(text);
        } else {
            Thrown.log(cause, exception -> log.warn(text, exception));
        }
        return true;
    }
}
