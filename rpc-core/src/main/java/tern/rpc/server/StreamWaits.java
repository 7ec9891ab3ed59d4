package tern.rpc.server;

import java.time.Duration;
import java.util.List;
import tern.rpc.concurrent.WorkerPool;

/** Limits how long a server's workers wait for slow stream readers. Immutable. */
final class StreamWaits {

    /**
     * Each time the caller has read {@value} bytes of a stream, the worker that sends the stream may wait longer. A
     * stream is ready to send while it has fewer than {@value} unsent bytes.
     */
    static final long RENEWAL_BYTES = 32 << 10;

    private final long longestNanos;
    private final List<WorkerPool> pools;

    /**
     * @param longest the maximum time that a stream may wait for the first {@link #RENEWAL_BYTES} bytes to be read, and
     *     for each additional {@link #RENEWAL_BYTES} bytes
     * @param pools the thread pools that the limit applies to
     */
    StreamWaits(Duration longest, List<WorkerPool> pools) {
        this.longestNanos = longest.toNanos();
        this.pools = List.copyOf(pools);
    }

    /**
     * Returns whether the calling thread is a worker. The limit applies to workers, because other calls may be waiting
     * for a worker thread.
     */
    private boolean isWorker() {
        Thread self = Thread.currentThread();
        for (WorkerPool pool : pools) {
            if (pool.isWorker(self)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The remaining waiting time of one stream. Each time the caller has read another {@link #RENEWAL_BYTES} bytes,
     * time is added. Callers report what they have read in large steps, so the time added by one report can be used
     * until the next report. Older unused time is dropped. Otherwise, a caller could read fast at first and then block
     * a worker for a long time. Thread-safe.
     */
    final class Patience {

        private long leftNanos = longestNanos; // guarded by this
        private long paidBytes; // the number of read bytes that have already added waiting time; guarded by this

        /**
         * Returns the time that the calling thread may wait, in nanoseconds, or {@link Long#MAX_VALUE} if it is not a
         * worker.
         *
         * @param taken the number of bytes of the stream that its caller has read so far
         * @param step the caller's report size: {@code taken} grows by at most this number of bytes at a time
         */
        long leftNanos(long taken, long step) {
            if (!isWorker()) {
                return Long.MAX_VALUE;
            }
            synchronized (this) {
                long earned = (taken - paidBytes) / RENEWAL_BYTES;
                if (earned > 0) {
                    paidBytes += earned * RENEWAL_BYTES;
                    long maxSteps = 1 + (step + RENEWAL_BYTES - 1) / RENEWAL_BYTES;
                    leftNanos =
                            Math.min(maxSteps * longestNanos, leftNanos + Math.min(earned, maxSteps) * longestNanos);
                }
                return leftNanos;
            }
        }

        /** Reduces the remaining waiting time by the duration of a wait. */
        synchronized void waited(long nanos) {
            leftNanos = Math.max(0, leftNanos - nanos);
        }
    }
}
