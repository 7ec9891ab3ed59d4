package tern.rpc.load.cluster;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Makes blocking calls through one consumer at a steady rate. Every second call uses an idempotent method. A call
 * starts at its scheduled time even if earlier calls have not ended. The latency of a call is measured from the
 * scheduled time. Thread-safe.
 */
final class SteadyCalls {

    private static final int THREADS = 400;
    private static final int LAST_CALLS_SECONDS = 10;
    private static final long HIGHEST_MICROS = TimeUnit.SECONDS.toMicros(60);
    private static final String TEXT = "steady";

    private final Wire.Consumer consumer;
    private final long periodNanos;
    private final Losses losses;
    private final ExecutorService callers = Executors.newFixedThreadPool(THREADS, SteadyCalls::daemon);
    private final Thread pace;
    private volatile Counts counts = new Counts();
    private volatile boolean stopped;

    /** Receives each failed call, on the thread that made the call. */
    @FunctionalInterface
    interface Losses {

        /**
         * @param safe whether the call was idempotent
         * @param startedMillis the start of the call in milliseconds since 1970-01-01 UTC
         */
        void lost(boolean safe, long startedMillis, RuntimeException failure);
    }

    /** The calls that started in one part of a run. */
    static final class Counts {

        private final Histogram micros = new ConcurrentHistogram(HIGHEST_MICROS, 3);
        private long lostSafe; // This object's lock guards this and all following fields.
        private long lostOnce;
        private @Nullable String firstFailure;

        private synchronized void lost(boolean safe, Throwable failure) {
            if (safe) {
                lostSafe++;
            } else {
                lostOnce++;
            }
            if (firstFailure == null) {
                firstFailure = String.valueOf(failure.getMessage());
            }
        }

        synchronized long calls() {
            return micros.getTotalCount() + lostSafe + lostOnce;
        }

        /** Returns the number of failed calls to the idempotent method. */
        synchronized long lostSafe() {
            return lostSafe;
        }

        /** Returns the number of failed calls to the non-idempotent method. */
        synchronized long lostOnce() {
            return lostOnce;
        }

        synchronized String firstFailure() {
            return firstFailure == null ? "" : firstFailure;
        }

        double p99Millis() {
            return micros.getValueAtPercentile(99) / 1e3;
        }
    }

    SteadyCalls(Wire.Consumer consumer, int perSecond, String name) {
        this(consumer, perSecond, name, (safe, startedMillis, failure) -> {});
    }

    SteadyCalls(Wire.Consumer consumer, int perSecond, String name, Losses losses) {
        this.consumer = consumer;
        this.losses = losses;
        this.periodNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
        this.pace = daemon(this::pace);
        pace.setName("pace-" + name);
        pace.start();
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "caller");
        thread.setDaemon(true);
        return thread;
    }

    /** Ends a part of the run. Calls that start later belong to the next part. */
    synchronized Counts next() {
        Counts ended = counts;
        counts = new Counts();
        return ended;
    }

    private void pace() {
        long next = System.nanoTime();
        for (long number = 0; !stopped; number++) {
            long intended = next;
            boolean safe = number % 2 == 0;
            Counts part = counts;
            callers.execute(() -> call(part, intended, safe));
            next += periodNanos;
            long left = next - System.nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(left);
            }
        }
    }

    private void call(Counts part, long intended, boolean safe) {
        long startedMillis = System.currentTimeMillis();
        try {
            if (safe) {
                consumer.safe().echo(TEXT);
            } else {
                consumer.once().echo(TEXT);
            }
            long micros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - intended);
            part.micros.recordValue(Math.min(HIGHEST_MICROS, Math.max(0, micros)));
        } catch (RuntimeException e) {
            part.lost(safe, e);
            losses.lost(safe, startedMillis, e);
        }
    }

    /**
     * Starts no more calls, and waits until the running calls have ended.
     *
     * @return whether all calls have ended
     */
    boolean close() throws InterruptedException {
        stopped = true;
        pace.join();
        callers.shutdown();
        boolean ended = callers.awaitTermination(LAST_CALLS_SECONDS, TimeUnit.SECONDS);
        consumer.close();
        return ended;
    }
}
