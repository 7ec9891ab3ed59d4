package tern.rpc.spring.autoconfigure.waiting;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import tern.rpc.NanoClock;
import tern.rpc.metrics.LatencyWindow;
import tern.rpc.metrics.Slo;
import tern.rpc.waiting.WaitingReport;

/**
 * Logs the waiting report when calls are refused because no worker is free, or when more than one call in a hundred
 * missed the target within the last minute; at most once a minute. Uses its own thread, because refusals are reported
 * on event loops.
 */
public final class WaitingWatch implements SmartLifecycle {

    private static final Logger LOG = LoggerFactory.getLogger(WaitingWatch.class);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** With fewer calls, a share of one in a hundred means nothing. */
    private static final int FEWEST_CALLS = 100;

    private static final double SHARE_OF_P99 = 0.01;

    private final Slo target;
    private final Supplier<LatencyWindow.Report> lastMinute;
    private final Supplier<WaitingReport> reports;
    private final NanoClock clock;

    private volatile boolean refused;
    private volatile @Nullable Thread thread;
    private boolean pausing; // used, like the next field, by the watching thread only
    private long pauseEnd;

    WaitingWatch(
            Slo target, Supplier<LatencyWindow.Report> lastMinute, Supplier<WaitingReport> reports, NanoClock clock) {
        this.target = target;
        this.lastMinute = lastMinute;
        this.reports = reports;
        this.clock = clock;
    }

    /** A call was refused. Any thread may call this; it never blocks. */
    public void refused() {
        if (!refused) {
            refused = true;
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void start() {
        Thread made = new Thread(this::watch, "rpc-waiting");
        made.setDaemon(true);
        thread = made;
        made.start();
    }

    @Override
    public void stop() {
        Thread watching = thread;
        thread = null;
        LockSupport.unpark(watching);
    }

    @Override
    public boolean isRunning() {
        return thread != null;
    }

    private void watch() {
        while (thread == Thread.currentThread()) {
            if (!refused || pausing) {
                LockSupport.parkNanos(this, LOOK_NANOS);
            }
            try {
                look();
            } catch (RuntimeException | Error e) { // thrown by a pool or a classifier of the application
                LOG.warn("The waiting report could not be made", e);
            }
        }
    }

    /** Checks once. Refusals during a pause are not reported after it. */
    void look() {
        long now = clock.nanoTime();
        if (pausing) {
            if (now - pauseEnd >= 0) {
                pausing = false;
                refused = false;
            }
            return;
        }
        boolean refusedNow = refused;
        refused = false;
        String reason = refusedNow ? "Calls are refused since no worker is free" : missed(lastMinute.get());
        if (reason != null) {
            pausing = true;
            pauseEnd = now + PAUSE_NANOS;
            LOG.warn(
                    "{}. This is what threads wait for:{}{}",
                    reason,
                    System.lineSeparator(),
                    reports.get().text());
        }
    }

    private @Nullable String missed(LatencyWindow.Report minute) {
        if (minute.calls() < FEWEST_CALLS || minute.shareOverTarget() <= SHARE_OF_P99) {
            return null;
        }
        return String.format(
                Locale.ROOT,
                "%.1f %% of %d calls took more than %d ms (rpc.slo.latency) in the last %d s",
                minute.shareOverTarget() * 100,
                minute.calls(),
                target.latency().toMillis(),
                minute.seconds());
    }
}
