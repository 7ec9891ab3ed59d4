package tern.rpc.spring.autoconfigure.web;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Estimates how long a request waited before its event loop read it. While code blocks the loop, the request waits in
 * its socket, and this wait cannot be measured. The estimate is the mean wait in a queue with random arrivals and
 * constant service times (M/D/1). The estimate is used only if the loop works for a long time on each request.
 *
 * <p>Arrivals are not random if a client sends its next request only after the previous answer. Therefore the estimate
 * has two upper bounds: the time since the end of the previous request on the same connection, and the time to serve
 * one request from each connection that was served during the estimated wait. For the first request on a connection,
 * the estimate is 0. Each thread has its own loop. Thread-safe.
 */
final class LoopWaits {

    /** A loop counts as blocked if it works on a request for at least this long without a pause. */
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /**
     * A request counts as having waited only if the loop reads it within this time after the end of the previous
     * request.
     */
    private static final long AT_ONCE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final double WEIGHT = 0.2;
    private static final double MAX_SHARE = 0.95;
    private static final int MAX_CONNECTIONS = 1_024; // the maximum number of connections remembered for each loop

    @SuppressWarnings("ThreadLocalUsage") // not static, because each instance counts only its own filter's requests
    private final ThreadLocal<Loop> loops = ThreadLocal.withInitial(Loop::new);

    private static final class Loop {
        private double eachNanos = -1;
        private long busyNanos;
        private long windowFrom;
        private double share;
        private long lastEnd;

        /**
         * The time when the last request on each connection ended. The connection with the oldest time is the first
         * entry.
         */
        private final Map<Object, Long> ends = new LinkedHashMap<>();

        void worked(Object connection, long from, long to) {
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
            ended(connection, to);
        }

        void ended(Object connection, long now) {
            ends.remove(connection);
            ends.put(connection, now);
            if (ends.size() > MAX_CONNECTIONS) {
                ends.remove(ends.keySet().iterator().next());
            }
        }

        long waited(Object connection, long now) {
            Long previous = ends.get(connection);
            if (previous == null || eachNanos < LONG_NANOS || now - lastEnd > AT_ONCE_NANOS) {
                return 0;
            }
            double wait = Math.min((double) (now - previous), share * eachNanos / (2 * (1 - share)));
            long since = now - (long) wait;
            long served = ends.values().stream().filter(end -> end - since > 0).count();
            return (long) Math.min(wait, served * eachNanos);
        }
    }

    /** Records that this thread has worked on a request of the given connection without a pause. */
    void worked(Object connection, long fromNanos, long toNanos) {
        loops.get().worked(connection, fromNanos, toNanos);
    }

    /** Records that a request has ended on this thread, possibly long after the thread first worked on it. */
    void ended(Object connection, long now) {
        loops.get().ended(connection, now);
    }

    /** Returns the estimated wait of a request of the given connection that this thread is beginning to serve. */
    long waited(Object connection, long now) {
        return loops.get().waited(connection, now);
    }
}
