package tern.rpc.cluster;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;
import tern.rpc.NanoClock;

/**
 * Logs the state changes of one object, such as a provider, at a limited rate: a burst of four lines, then one line
 * every 15 s. The last change is always logged, possibly with a delay. Thread-safe.
 */
final class ChangeLog {

    private static final int AT_ONCE = 4;
    private static final int SECONDS_BETWEEN = 15;

    /** A change that has not been logged. */
    private record Change(Level level, Supplier<String> text) {}

    private final Logger log;
    private final NanoClock clock;
    private final ScheduledExecutorService timer;
    private final TokenBucket pace;
    private @Nullable Change waiting; // This object's lock guards "waiting", "skipped" and "scheduled".
    private int skipped;
    private boolean scheduled;

    /** @param timer writes delayed lines */
    ChangeLog(Logger log, NanoClock clock, ScheduledExecutorService timer) {
        this.log = log;
        this.clock = clock;
        this.timer = timer;
        this.pace = new TokenBucket(AT_ONCE, 1.0 / SECONDS_BETWEEN, clock.nanoTime());
    }

    /**
     * Logs a change, immediately or with a delay.
     *
     * @param text supplies the log line; called on any thread, but not for lines that are not written. If the text is
     *     empty, the change is over, and nothing is logged
     */
    synchronized void changed(Level level, Supplier<String> text) {
        skipped += waiting == null ? 0 : 1;
        waiting = new Change(level, text);
        if (!scheduled) {
            write();
        }
    }

    private synchronized void writeLater() {
        scheduled = false;
        write();
    }

    private void write() {
        Change last = waiting;
        if (last == null) {
            return;
        }
        if (!pace.take(clock.nanoTime())) {
            schedule();
            return;
        }
        String text = last.text().get();
        String line = skipped == 0 ? text : text + " (there were " + skipped + " more changes since the last line)";
        if (!text.isEmpty()) {
            log.atLevel(last.level()).log(line);
        }
        waiting = null;
        skipped = 0;
    }

    private void schedule() {
        try {
            timer.schedule(this::writeLater, SECONDS_BETWEEN, TimeUnit.SECONDS);
            scheduled = true;
        } catch (RejectedExecutionException e) {
            log.debug("The client is closed, so a change is not logged", e);
        }
    }
}
