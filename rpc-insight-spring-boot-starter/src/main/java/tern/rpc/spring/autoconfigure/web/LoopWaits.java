package tern.rpc.spring.autoconfigure.web;

import java.util.concurrent.TimeUnit;

/**
 * Estimates for how long a request has waited until its event loop read it. If code blocks the loop, the request waits
 * in its socket, and this wait cannot be measured. The estimate is the mean wait of a queue with random arrivals and
 * constant service times (M/D/1). It is used only while the loop works for a long time on each request. Each thread has
 * its own loop. Thread-safe.
 */
final class LoopWaits {

    /** A loop is considered blocked only if it works for at least this long on a request without a pause. */
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /**
     * A request counts as having waited only if the loop reads it within this time after the end of the previous
     * request.
     */
    private static final long AT_ONCE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final double WEIGHT = 0.2;
    private static final double MAX_SHARE = 0.95;

    @SuppressWarnings("ThreadLocalUsage") // each filter counts only its own requests
    private final ThreadLocal<Loop> loops = ThreadLocal.withInitial(Loop::new);

    private static final class Loop {
        private double eachNanos = -1;
        private long busyNanos;
        private long windowFrom;
        private double share;
        private long lastEnd;

        void worked(long from, long to) {
            double spent = to - from;
            if (eachNanos < 0) {
                eachNanos = spent;
                windowFrom = from;
            }
            eachNanos += WEIGHT * (spent - eachNanos);
            busyNanos += to - from;
            if (to - windowFrom >= WINDOW_NANOS) {
                share = Math.min(MAX_SHARE, (double) busyNanos / (to - windowFrom));
                busyNanos = 0;
                windowFrom = to;
            }
            lastEnd = to;
        }

        long waited(long now) {
            boolean mayHaveWaited = eachNanos >= LONG_NANOS && now - lastEnd <= AT_ONCE_NANOS;
            return mayHaveWaited ? (long) (share * eachNanos / (2 * (1 - share))) : 0;
        }
    }

    /** Records that this thread has worked on a request without a pause. */
    void worked(long fromNanos, long toNanos) {
        loops.get().worked(fromNanos, toNanos);
    }

    /** Returns the estimated wait of a request that this thread begins to serve now. */
    long waited(long now) {
        return loops.get().waited(now);
    }
}
