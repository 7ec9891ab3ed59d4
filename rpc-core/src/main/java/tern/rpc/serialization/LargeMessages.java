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
 * need almost 5 GB and would be no faster than four workers. A request is decoded only when its objects fit into a
 * quarter of the heap together with the objects of the other requests that are being decoded or run. A call fails if
 * its thread waits for more than three seconds. Thread-safe.
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
     * For every {@value} bytes of the heap, one thread may wait to write a message. A message has up to 8 MiB by
     * default.
     */
    private static final long HEAP_OF_A_WRITER = 16 << 20;

    private static final int MIN_WRITERS = 8;

    /**
     * The maximum number of threads that wait to write a message. Each of them holds the object that it writes, such as
     * a result. Further calls fail immediately, so that their objects can be released.
     */
    private static final int MAX_WRITERS = maxWriters(Runtime.getRuntime().maxMemory());

    /**
     * The memory that is reserved for the objects of a request while it is decoded, as a multiple of the request's
     * size. One byte can encode a value that needs 64 bytes, a slot in a list, and a number in the table of references
     * (docs/decisions/0017).
     */
    private static final int OBJECTS_FACTOR = 80;

    private static final int HEAP_SHARE = 4;

    /**
     * The maximum size of a request that is decoded without a permit. The number of workers limits how many such
     * requests are decoded at the same time.
     */
    private static final int UNCHECKED_BYTES = 16 << 10;

    /** A running call holds no permits if its decoded objects take at most this much memory, in KiB. */
    private static final int UNCHECKED_OBJECT_KIB = 256;

    private static final int WAITING_PER_PROCESSOR = 50;

    /**
     * The maximum number of waiting threads. Further requests fail immediately, so waiting requests cannot occupy all
     * workers.
     */
    private static final int MAX_WAITING =
            WAITING_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();

    /** The memory for the objects of requests, in KiB. */
    private static final int OBJECT_KIB =
            (int) Math.max(1, Math.min(Integer.MAX_VALUE, (Runtime.getRuntime().maxMemory() >> 10) / HEAP_SHARE));

    private static final ObjectMemory OBJECTS = new ObjectMemory();

    private LargeMessages() {}

    /**
     * The permits, one per KiB. The semaphore is fair, because small requests could otherwise keep a large one waiting.
     */
    private static final class ObjectMemory extends Semaphore {

        private static final long serialVersionUID = 1L;

        ObjectMemory() {
            super(OBJECT_KIB, true);
        }

        /** Takes permits without waiting. The number of available permits may become negative. */
        void take(int permits) {
            reducePermits(permits);
        }
    }

    /**
     * Waits until the objects of a request fit into memory. Must not be called on an event loop.
     *
     * @param bytes the size of the uncompressed request
     * @return the permits, which the caller must pass to {@link #release} when the request has been decoded
     * @throws RpcException RESOURCE_EXHAUSTED if the permits do not become available within three seconds, or if too
     *     many other requests are waiting
     */
    public static int startReading(int bytes) {
        if (!isChecked(bytes)) {
            return 0;
        }
        int kib = (int) Math.min(OBJECT_KIB, ((long) bytes * OBJECTS_FACTOR) >> 10);
        boolean isFull = OBJECTS.availablePermits() < kib && OBJECTS.getQueueLength() >= MAX_WAITING;
        if (isFull || !acquire(OBJECTS, kib)) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a request of " + bytes + " bytes was not decoded: the objects of all requests may take "
                            + (OBJECT_KIB >> 10) + " MiB (a quarter of the heap), "
                            + (isFull
                                    ? MAX_WAITING + " other requests wait for this memory"
                                    : "and other requests did not end within " + PATIENCE_MILLIS + " ms"),
                    Executed.NO);
        }
        return kib;
    }

    /** Returns whether decoding a request of this size needs permits. */
    public static boolean isChecked(int bytes) {
        return bytes > UNCHECKED_BYTES;
    }

    /**
     * Takes permits for the decoded objects of a call that is about to run. Does not wait.
     *
     * @param objectBytes the memory of the objects
     * @return the permits, which the caller must pass to {@link #release} when the call has ended
     */
    public static int hold(long objectBytes) {
        long kib = objectBytes >> 10;
        if (kib <= UNCHECKED_OBJECT_KIB) {
            return 0;
        }
        int permits = (int) Math.min(OBJECT_KIB, kib);
        OBJECTS.take(permits);
        return permits;
    }

    /** @param permits the permits from {@link #startReading} or {@link #hold} */
    public static void release(int permits) {
        OBJECTS.release(permits);
    }

    /** Returns the memory in KiB that is left for the objects of requests, for tests. */
    static int objectKib() {
        return OBJECTS.availablePermits();
    }

    /**
     * Checks the estimated memory of the objects of one message before it is decoded.
     *
     * @throws SerializationException if the objects do not fit into a quarter of the heap
     */
    public static void checkObjects(long objectBytes, int messageBytes) {
        if (objectBytes >> 10 > OBJECT_KIB) {
            throw new SerializationException("the objects of this message of " + messageBytes
                    + " bytes would take about " + (objectBytes >> 20)
                    + " MiB, but the objects of all requests may take "
                    + (OBJECT_KIB >> 10) + " MiB (a quarter of the heap); send fewer values at a time, or start the JVM"
                    + " with a larger heap");
        }
    }

    private static boolean acquire(Semaphore permits, int count) {
        try {
            return permits.tryAcquire(count, PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Returns the number of threads that wait to write or decompress a message, for tests. */
    static int waitingWriters() {
        return TURNS.getQueueLength();
    }

    /** @param heap the maximum size of the heap */
    static int maxWriters(long heap) {
        return (int) Math.max(MIN_WRITERS, Math.min(Integer.MAX_VALUE, heap / HEAP_OF_A_WRITER));
    }

    /** Returns the number of available permits, for tests. */
    static int free() {
        return TURNS.availablePermits();
    }

    /**
     * Takes a permit.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if too many threads are waiting, or if no permit becomes available within
     *     three seconds
     */
    static void enter(@Nullable MessageKind kind) {
        enter(kind, MAX_WRITERS);
    }

    static void enter(@Nullable MessageKind kind, int maxWaiting) {
        if (TURNS.availablePermits() == 0 && TURNS.getQueueLength() >= maxWaiting) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a message of more than " + LARGE_BYTES + " bytes was not written or unpacked: " + maxWaiting
                            + " threads already wait to write messages of that size (one for each "
                            + (HEAP_OF_A_WRITER >> 20) + " MiB of the heap)",
                    kind == MessageKind.RESPONSE ? Executed.YES : Executed.NO);
        }
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
