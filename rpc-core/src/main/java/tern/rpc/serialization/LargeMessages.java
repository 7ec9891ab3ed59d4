package tern.rpc.serialization;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * Limits the threads that work on large messages at the same time. Two threads per processor may encode, and two may
 * decompress large messages. An encoded message exists in memory up to three times, so 200 workers with answers of
 * 8 MiB would need almost 5 GB and would be no faster than four workers. A request is decoded only when its objects fit into a
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

    /**
     * For every {@value} bytes of the heap, one thread may wait to write a message. A message has up to 8 MiB by
     * default.
     */
    private static final long HEAP_OF_A_WRITER = 16 << 20;

    private static final int MIN_WRITERS = 8;

    /**
     * The maximum number of threads that wait to write a message, and of those that wait to unpack one. Each writer
     * holds the object that it writes, such as a result. Further calls fail immediately, so that their objects can be released.
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
     * The maximum number of threads that wait to read a request. Further requests fail immediately, so waiting requests
     * cannot occupy all workers.
     */
    private static final int MAX_WAITING =
            WAITING_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();

    /** The memory for the objects of requests, in KiB. */
    private static final int OBJECT_KIB =
            (int) Math.max(1, Math.min(Integer.MAX_VALUE, (Runtime.getRuntime().maxMemory() >> 10) / HEAP_SHARE));

    private static final ObjectMemory OBJECTS = new ObjectMemory(OBJECT_KIB, MAX_WAITING, NanoClock.SYSTEM);

    private LargeMessages() {}

    /** A kind of work that only a few threads may do at the same time. */
    static final class Work {

        static final Work WRITE = new Work("written", "write");
        static final Work UNPACK = new Work("unpacked", "unpack");

        private final Semaphore turns = new Semaphore(PLACES);
        private final String done;
        private final String verb;

        private Work(String done, String verb) {
            this.done = done;
            this.verb = verb;
        }

        /**
         * Takes a permit.
         *
         * @throws RpcException RESOURCE_EXHAUSTED if too many threads are waiting, or if no permit becomes available
         *     within three seconds
         */
        void enter(@Nullable MessageKind kind) {
            enter(kind, MAX_WRITERS);
        }

        void enter(@Nullable MessageKind kind, int maxWaiting) {
            if (turns.availablePermits() == 0 && turns.getQueueLength() >= maxWaiting) {
                throw refusal(
                        kind,
                        maxWaiting + " threads already wait to " + verb + " messages of that size (one for each "
                                + (HEAP_OF_A_WRITER >> 20) + " MiB of the heap)");
            }
            if (!acquire()) {
                throw refusal(
                        kind,
                        PLACES + " threads are busy with others of that size, and none was done within "
                                + PATIENCE_MILLIS + " ms");
            }
        }

        private boolean acquire() {
            try {
                return turns.tryAcquire(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        private RpcException refusal(@Nullable MessageKind kind, String reason) {
            return RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a message of more than " + LARGE_BYTES + " bytes was not " + done + ": " + reason,
                    kind == MessageKind.RESPONSE ? Executed.YES : Executed.NO);
        }

        void leave() {
            turns.release();
        }

        /** Returns the number of available permits, for tests. */
        int free() {
            return turns.availablePermits();
        }

        /** Returns the number of threads that wait for a permit, for tests. */
        int waiting() {
            return turns.getQueueLength();
        }
    }

    /**
     * Waits until the objects of a request fit into memory. Must not be called on an event loop.
     *
     * @param bytes the size of the uncompressed request
     * @param tenant identifies the caller; memory is shared between tenants
     * @return the permits, which the caller must pass to {@link #release} when the request has been decoded
     * @throws RpcException RESOURCE_EXHAUSTED if the permits do not become available within three seconds, or if too
     *     many other requests are waiting
     */
    public static int startReading(int bytes, Object tenant) {
        return isChecked(bytes) ? acquire(bytes, ((long) bytes * OBJECTS_FACTOR) >> 10, tenant) : 0;
    }

    /**
     * Waits until a copy of a request fits into memory. Used for requests whose arguments are skipped, so that no
     * objects are created. Has the same parameters, result and errors as {@link #startReading}.
     */
    public static int startSkipping(int bytes, Object tenant) {
        return isChecked(bytes) ? acquire(bytes, bytes >> 10, tenant) : 0;
    }

    private static int acquire(int bytes, long neededKib, Object tenant) {
        int kib = (int) Math.min(OBJECT_KIB, neededKib);
        ObjectMemory.Result result = OBJECTS.acquire(tenant, kib, TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS));
        if (result != ObjectMemory.Result.ACQUIRED) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a request of " + bytes + " bytes was not decoded: the objects of all requests may take "
                            + (OBJECT_KIB >> 10) + " MiB (a quarter of the heap), "
                            + (result == ObjectMemory.Result.CROWDED
                                    ? OBJECTS.waiting() + " other requests wait for this memory (at most " + MAX_WAITING
                                            + ", shared between callers)"
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
        return OBJECTS.available();
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

    /** @param heap the maximum size of the heap */
    static int maxWriters(long heap) {
        return (int) Math.max(MIN_WRITERS, Math.min(Integer.MAX_VALUE, heap / HEAP_OF_A_WRITER));
    }
}
