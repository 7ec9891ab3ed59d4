package tern.rpc.server;

import java.time.Duration;
import java.util.List;
import tern.rpc.concurrent.WorkerPool;

/** How long the workers of a server wait for callers that read a stream slowly. Immutable. */
final class StreamWaits {

    /** A caller that takes as many bytes, the room below which a stream is ready, has earned the whole wait again. */
    static final long RENEWAL_BYTES = 32 << 10;

    private final long longestNanos;
    private final List<WorkerPool> pools;

    /**
     * @param longest for one stream, until its caller has taken {@link #RENEWAL_BYTES} more
     * @param pools whose threads must not wait for longer
     */
    StreamWaits(Duration longest, List<WorkerPool> pools) {
        this.longestNanos = longest.toNanos();
        this.pools = List.copyOf(pools);
    }

    /** Whether other calls wait for the calling thread. */
    private boolean isWorker() {
        Thread self = Thread.currentThread();
        for (WorkerPool pool : pools) {
            if (pool.isWorker(self)) {
                return true;
            }
        }
        return false;
    }

    /** The wait that is left to one stream. Thread-safe. */
    final class Patience {

        private long waitedNanos; // guarded by this
        private long takenBytes; // when the wait began to count; guarded by this

        /**
         * Nanoseconds that the calling thread may wait; {@link Long#MAX_VALUE} for a thread that is no worker.
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

        /** The calling thread waited; that of a thread which is no worker does not count. */
        synchronized void waited(long nanos) {
            waitedNanos += nanos;
        }
    }
}
