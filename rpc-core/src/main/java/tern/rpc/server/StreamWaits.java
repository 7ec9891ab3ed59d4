package tern.rpc.server;

import java.time.Duration;
import java.util.List;
import tern.rpc.concurrent.WorkerPool;

/** Limits the time that workers of a server wait for slow readers of streams. Immutable. */
final class StreamWaits {

    /**
     * The full waiting time is available again after the caller has taken this many bytes. A stream is ready while it
     * has less than this many unsent bytes.
     */
    static final long RENEWAL_BYTES = 32 << 10;

    private final long longestNanos;
    private final List<WorkerPool> pools;

    /**
     * @param longest the longest wait of one stream, until its caller has taken {@link #RENEWAL_BYTES} more
     * @param pools the pools whose threads must not wait longer
     */
    StreamWaits(Duration longest, List<WorkerPool> pools) {
        this.longestNanos = longest.toNanos();
        this.pools = List.copyOf(pools);
    }

    /** Whether the calling thread is a worker that other calls may be waiting for. */
    private boolean isWorker() {
        Thread self = Thread.currentThread();
        for (WorkerPool pool : pools) {
            if (pool.isWorker(self)) {
                return true;
            }
        }
        return false;
    }

    /** The remaining waiting time of one stream. Thread-safe. */
    final class Patience {

        private long waitedNanos; // guarded by this
        private long takenBytes; // number of bytes taken when the wait began to count; guarded by this

        /**
         * Nanoseconds that the calling thread may wait; {@link Long#MAX_VALUE} if the thread is not a worker.
         *
         * @param taken number of bytes of the stream that its caller has taken so far
         */
        long leftNanos(long taken) {
            if (!isWorker()) {
                return Long.MAX_VALUE;
            }
            synchronized (this) {
                if (taken - takenBytes >= RENEWAL_BYTES) {
                    takenBytes = taken;
                    waitedNanos = 0;
                }
                return Math.max(0, longestNanos - waitedNanos);
            }
        }

        /** Subtracts a wait of the calling thread, if the thread is a worker. */
        synchronized void waited(long nanos) {
            waitedNanos += nanos;
        }
    }
}
