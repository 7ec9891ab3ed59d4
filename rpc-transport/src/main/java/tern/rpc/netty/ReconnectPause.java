package tern.rpc.netty;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time before a lost connection is replaced.
 *
 * @param timer ends the pause; null if the pause is over and the attempt waits until {@link ReconnectPace} permits it
 */
record ReconnectPause(@Nullable ScheduledFuture<?> timer) {

    static final ReconnectPause OVER = new ReconnectPause(null);

    long leftNanos() {
        return timer == null ? 0 : Math.max(0, timer.getDelay(TimeUnit.NANOSECONDS));
    }

    void cancel() {
        if (timer != null) {
            timer.cancel(false);
        }
    }
}
