package tern.rpc.serialization;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * Limits the threads that work on large messages at the same time. Two threads per processor may encode or decompress
 * large messages. An encoded message exists in memory up to three times, so 200 workers with answers of 8 MiB would
 * need almost 5 GB and would be no faster than four workers. Large requests are decoded at the same time only if their
 * objects together fit into a quarter of the heap. A call fails if its thread waits for more than three seconds.
 * Thread-safe.
 */
public final class LargeMessages {

    /** The maximum size of an array that needs no permit. A waiting thread already holds an array of this size. */
    static final int LARGE_BYTES = 256 << 10;

    private static final int THREADS_PER_PROCESSOR = 2;
    private static final long PATIENCE_MILLIS = 3_000;
    private static final int PLACES =
            THREADS_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();
    private static final Semaphore TURNS = new Semaphore(PLACES);

    /**
     * The memory that the objects of a legitimate request may take, as a multiple of its size (docs/decisions/0017).
     */
    private static final int OBJECTS_FACTOR = 24;

    private static final int HEAP_SHARE = 4;

    /** The number of KiB that may be decoded at the same time. */
    private static final int READABLE_KIB = (int) Math.max(
            1, Math.min(Integer.MAX_VALUE, (Runtime.getRuntime().maxMemory() >> 10) / (HEAP_SHARE * OBJECTS_FACTOR)));

    // The semaphore is fair, because small requests could otherwise keep a large one waiting.
    private static final Semaphore READABLE = new Semaphore(READABLE_KIB, true);

    private LargeMessages() {}

    /**
     * Waits until the objects of a request fit into memory. Must not be called on an event loop.
     *
     * @param bytes the size of the uncompressed request
     * @return the permits, which the caller must pass to {@link #endReading} when the request has been decoded
     * @throws RpcException RESOURCE_EXHAUSTED if the permits do not become available within three seconds
     */
    public static int startReading(int bytes) {
        if (bytes <= LARGE_BYTES) {
            return 0;
        }
        int kib = Math.min(READABLE_KIB, bytes >> 10);
        if (!acquire(READABLE, kib)) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a request of " + bytes + " bytes was not decoded: at most " + READABLE_KIB
                            + " KiB are decoded at the same time (a larger heap allows more), and other requests were"
                            + " not done within " + PATIENCE_MILLIS + " ms",
                    Executed.NO);
        }
        return kib;
    }

    /** @param permits the permits from {@link #startReading} */
    public static void endReading(int permits) {
        READABLE.release(permits);
    }

    /** Returns the number of KiB that may be decoded in addition to the requests that are being decoded, for tests. */
    static int readableKib() {
        return READABLE.availablePermits();
    }

    private static boolean acquire(Semaphore permits, int count) {
        try {
            return permits.tryAcquire(count, PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

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
        if (!acquire(TURNS, 1)) {
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
