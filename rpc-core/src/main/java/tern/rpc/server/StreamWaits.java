package tern.rpc.server;

import java.time.Duration;
import java.util.List;
import tern.rpc.concurrent.WorkerPool;

/** Limits how long workers of a server wait for slow readers of streams. Immutable. */
final class StreamWaits {

    /**
     * The full wait is available again after the caller has taken this many bytes, which is the room below which a
     * stream is ready.
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

    /** Whether the calling thread is a worker, for which other calls wait. */
    private boolean isWorker() {
        Thread self = Thread.currentThread();
        for (WorkerPool pool : pools) {
            if (pool.isWorker(self)) {
                return true;
            }
        }
        return false;
    }

    /** The remaining wait of one stream. Thread-safe. */
    final class Patience {

        private long waitedNanos; // guarded by this
        private long takenBytes; // bytes taken when the wait began to count; guarded by this

        /**
         * Nanoseconds that the calling thread may wait; {@link Long#MAX_VALUE} if the thread is not a worker.
         *
         * @param taken bytes of the stream that its caller has taken so far
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

        /** Counts a wait of the calling thread, if it is a worker. */
        synchronized void waited(long nanos) {
            waitedNanos += nanos;
        }
    }
}
