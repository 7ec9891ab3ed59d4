package tern.rpc.server;

import java.time.Duration;
import java.util.List;
import tern.rpc.concurrent.WorkerPool;

/** Limits how long the workers of a server wait for slow readers of streams. Immutable. */
final class StreamWaits {

    /**
     * When the caller has read this number of bytes, the stream's waiting time starts again at zero. A stream is ready
     * while it has fewer unsent bytes than this number.
     */
    static final long RENEWAL_BYTES = 32 << 10;

    private final long longestNanos;
    private final List<WorkerPool> pools;

    /**
     * @param longest the maximum total time that a stream may wait. The time starts again at zero whenever the caller
     *     has read another {@link #RENEWAL_BYTES} bytes
     * @param pools the thread pools to which the limit applies
     */
    StreamWaits(Duration longest, List<WorkerPool> pools) {
        this.longestNanos = longest.toNanos();
        this.pools = List.copyOf(pools);
    }

    /** Returns whether the calling thread is a worker. Other calls may be waiting for it. */
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
        private long takenBytes; // number of bytes read by the caller at the last renewal; guarded by this

        /**
         * Returns how long the calling thread may wait, in nanoseconds, or {@link Long#MAX_VALUE} if it is not a
         * worker.
         *
         * @param taken the number of bytes of the stream that its caller has read so far
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

        /** Subtracts a wait from the remaining waiting time. */
        synchronized void waited(long nanos) {
            waitedNanos += nanos;
        }
    }
}
