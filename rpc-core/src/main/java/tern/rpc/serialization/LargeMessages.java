package tern.rpc.serialization;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * Limits the number of threads that encode or decompress large messages to two per processor. An encoded message
 * exists in memory up to three times, so 200 workers with answers of 8 MiB would need almost 5 GB and would be no
 * faster than four workers. A call fails if its thread waits for more than three seconds. Thread-safe.
 */
final class LargeMessages {

    /** The maximum size of an array that needs no permit. A waiting thread already holds an array of this size. */
    static final int LARGE_BYTES = 256 << 10;

    private static final int THREADS_PER_PROCESSOR = 2;
    private static final long PATIENCE_MILLIS = 3_000;
    private static final int PLACES =
            THREADS_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();
    private static final Semaphore TURNS = new Semaphore(PLACES);

    private LargeMessages() {}

    /** Returns the number of available permits, for tests. */
    static int free() {
        return TURNS.availablePermits();
    }

    /**
     * Takes a permit.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if no permit becomes available within three seconds
     */
    static void enter(@Nullable MessageKind kind) {
        boolean entered = false;
        try {
            entered = TURNS.tryAcquire(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!entered) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a message of more than " + LARGE_BYTES + " bytes was not written or unpacked: " + PLACES
                            + " threads are busy with others of that size, and none was done within " + PATIENCE_MILLIS
                            + " ms",
                    kind == MessageKind.RESPONSE ? Executed.YES : Executed.NO);
        }
    }

    static void leave() {
        TURNS.release();
    }
}
