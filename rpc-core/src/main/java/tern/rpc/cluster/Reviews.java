package tern.rpc.cluster;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.PeriodicTask;

/** Runs a task at changing intervals, on a timer. Thread-safe. */
final class Reviews {

    private static final Logger LOG = LoggerFactory.getLogger(Reviews.class);

    private final Runnable task;
    private final NanoClock clock;
    private final ScheduledExecutorService timer;
    private boolean isScheduled; // This object's lock guards isScheduled, dueNanos and "turn".
    private long dueNanos; // The time of the next run. The value is meaningful only if a run is scheduled.
    // The number of the next run. A scheduled run with a different number is obsolete, because another run was
    // scheduled for an earlier time.
    private long turn;

    /** @param task the task, which calls {@link #within} to be run again. Its exceptions are logged */
    Reviews(PeriodicTask task, NanoClock clock, ScheduledExecutorService timer) {
        this.task = task;
        this.clock = clock;
        this.timer = timer;
    }

    /** Runs the task after the given time, in nanoseconds, unless it is scheduled to run earlier. */
    synchronized void within(long nanos) {
        long due = clock.nanoTime() + nanos;
        if (isScheduled && dueNanos - due <= 0) {
            return;
        }
        long next = ++turn;
        try {
            timer.schedule(() -> run(next), nanos, TimeUnit.NANOSECONDS);
            isScheduled = true;
            dueNanos = due;
        } catch (RejectedExecutionException e) {
            LOG.debug("The client is closed", e);
        }
    }

    private void run(long number) {
        synchronized (this) {
            if (number != turn) {
                return;
            }
            isScheduled = false;
        }
        task.run();
    }
}
