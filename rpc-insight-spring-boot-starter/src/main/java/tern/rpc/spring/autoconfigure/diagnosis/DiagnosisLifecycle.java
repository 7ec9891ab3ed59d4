package tern.rpc.spring.autoconfigure.diagnosis;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import tern.rpc.diagnosis.Diagnostician;
import tern.rpc.metrics.RpcMeters;

/** Runs the diagnosis on a separate thread: once a second, and more often while calls are late. */
final class DiagnosisLifecycle implements SmartLifecycle {

    private static final Logger LOG = LoggerFactory.getLogger(DiagnosisLifecycle.class);
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Diagnostician diagnostician;
    private final RpcMeters meters;
    private final boolean recordMisses;
    private volatile @Nullable Thread thread;
    private boolean failed; // Only the diagnosis thread uses this field.

    DiagnosisLifecycle(Diagnostician diagnostician, RpcMeters meters, boolean recordMisses) {
        this.diagnostician = diagnostician;
        this.meters = meters;
        this.recordMisses = recordMisses;
    }

    @Override
    public synchronized void start() {
        if (thread == null) {
            meters.observe(diagnostician.observer());
            diagnostician.start(recordMisses);
            Thread started = new Thread(this::run, "rpc-diagnosis");
            started.setDaemon(true);
            thread = started;
            started.start();
        }
    }

    @Override
    public synchronized void stop() {
        Thread running = thread;
        thread = null;
        meters.observe(null);
        diagnostician.stop();
        LockSupport.unpark(running);
    }

    @Override
    public boolean isRunning() {
        return thread != null;
    }

    private void run() {
        long due = System.nanoTime() + SECOND_NANOS;
        while (thread == Thread.currentThread()) {
            try {
                due = step(due);
                // Thrown by one of the application's pools, or because memory is exhausted.
            } catch (RuntimeException | Error e) {
                if (thread != Thread.currentThread()) {
                    return; // The application is closing, and its beans can no longer be used.
                }
                due = System.nanoTime() + SECOND_NANOS;
                LockSupport.parkNanos(this, SECOND_NANOS);
                logFailure(e);
            }
        }
    }

    /**
     * Runs the diagnosis steps that are due.
     *
     * @return the time when the next one-second step is due
     */
    private long step(long due) {
        long left = due - System.nanoTime();
        if (left <= 0) {
            diagnostician.second();
            return Math.max(due + SECOND_NANOS, System.nanoTime() + SECOND_NANOS / 2);
        }
        long pause = diagnostician.pauseNanos();
        if (pause > 0) {
            diagnostician.look();
        }
        LockSupport.parkNanos(this, Math.min(left, pause > 0 ? pause : SECOND_NANOS / 5));
        return due;
    }

    private void logFailure(Throwable failure) {
        if (failed) {
            return;
        }
        try {
            LOG.warn("The diagnosis failed and continues; later failures are not logged", failure);
            failed = true;
        } catch (OutOfMemoryError e) {
            // Logging failed because the heap is full. The thread continues, and logs the next failure of the
            // diagnosis.
            return;
        }
    }
}
