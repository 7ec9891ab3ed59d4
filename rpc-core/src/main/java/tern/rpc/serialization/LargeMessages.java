package tern.rpc.serialization;

import java.util.concurrent.TimeUnit;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * Limits the memory for the objects of large requests. The objects of running calls, and of requests that are being
 * decoded, may together take a quarter of the heap. A request whose objects do not fit into the remaining memory must
 * wait. However, the request does not wait if no other request is being decoded and running calls leave some of this
 * memory free. A call fails if its thread waits for more than three seconds. {@link LargeWork} limits the threads.
 * Thread-safe.
 *
 * <p>Another sixteenth of the heap is reserved for requests of up to 128 KiB. Without this reserve, a caller that
 * constantly sends requests of several MiB could occupy all of the memory, and medium-sized requests from other callers
 * would fail.
 */
public final class LargeMessages {

    private static final long PATIENCE_MILLIS = 3_000;

    /**
     * The memory reserved for a request's objects while the request is being decoded, as a multiple of the request's
     * size. One byte can encode a value that needs 64 bytes, a slot in a list, and a number in the table of references
     * (docs/decisions/0017).
     */
    private static final int OBJECTS_FACTOR = 80;

    private static final int HEAP_SHARE = 4;

    /** The maximum size of a request that may use the memory for medium-sized requests. */
    private static final int MEDIUM_BYTES = 128 << 10;

    private static final int MEDIUM_HEAP_SHARE = 16;

    private static final int MAX_UNCHECKED_BYTES = 16 << 10;
    private static final int MIN_UNCHECKED_BYTES = 1 << 10;

    /** The assumed maximum number of small requests that a server's workers decode at the same time. */
    private static final int UNCHECKED_REQUESTS = 256;

    /** The objects of all small requests together must fit into this share of the heap. */
    private static final int UNCHECKED_HEAP_SHARE = 8;

    /**
     * The maximum size of a request that is decoded without a permit. The number of workers limits how many such
     * requests are decoded at the same time.
     */
    private static final int UNCHECKED_BYTES =
            uncheckedBytes(Runtime.getRuntime().maxMemory());

    /** The memory, in KiB, that the decoded objects of a running call may take without a permit. */
    private static final int UNCHECKED_OBJECT_KIB = 256;

    private static final int WAITING_PER_PROCESSOR = 50;

    /**
     * The maximum number of threads that wait to read a request. Additional requests fail immediately, so waiting
     * requests cannot occupy all workers.
     */
    private static final int MAX_WAITING =
            WAITING_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();

    /** The memory for request objects, in KiB. */
    private static final int OBJECT_KIB = kibOfHeap(HEAP_SHARE);

    private static final int MEDIUM_KIB = kibOfHeap(MEDIUM_HEAP_SHARE);

    private static final FairPermits OBJECTS = new FairPermits(OBJECT_KIB, MAX_WAITING, NanoClock.SYSTEM);

    private static final FairPermits MEDIUM = new FairPermits(MEDIUM_KIB, MAX_WAITING, NanoClock.SYSTEM);

    private LargeMessages() {}

    /** Returns the maximum size of a request that is decoded without a permit, for the given size of the heap. */
    static int uncheckedBytes(long heapBytes) {
        long max = heapBytes / UNCHECKED_HEAP_SHARE / UNCHECKED_REQUESTS / OBJECTS_FACTOR;
        return (int) Math.max(MIN_UNCHECKED_BYTES, Math.min(MAX_UNCHECKED_BYTES, max));
    }

    /** Returns the size of the heap divided by {@code share}, in KiB. */
    static int kibOfHeap(int share) {
        return (int) Math.max(
                1, Math.min(Integer.MAX_VALUE, (Runtime.getRuntime().maxMemory() >> 10) / share));
    }

    /**
     * Waits until the objects of a request fit into memory. Must not be called on an event loop.
     *
     * @param bytes the size of the uncompressed request
     * @param objectBytes the maximum memory of the request's objects, such as {@link #maxObjectBytes}
     * @param tenant identifies the caller; memory is shared between tenants
     * @return the permits, which the caller must pass to {@link #release} when the request has been decoded; negative
     *     if the permits belong to the memory for medium-sized requests
     * @throws RpcException RESOURCE_EXHAUSTED if the permits do not become available within three seconds, or if too
     *     many other requests are waiting
     */
    public static int startReading(int bytes, long objectBytes, Object tenant) {
        return isChecked(bytes) ? acquire(bytes, objectBytes >> 10, tenant) : 0;
    }

    /**
     * Works like {@link #startReading(int, long, Object)} for a request whose objects may take {@link #maxObjectBytes}.
     */
    public static int startReading(int bytes, Object tenant) {
        return startReading(bytes, maxObjectBytes(bytes), tenant);
    }

    /**
     * Waits until a copy of a request fits into memory. Used for requests whose arguments are skipped without creating
     * objects. Has the same parameters, result and errors as {@link #startReading}.
     */
    public static int startSkipping(int bytes, Object tenant) {
        return isChecked(bytes) ? acquire(bytes, bytes >> 10, tenant) : 0;
    }

    private static int acquire(int bytes, long neededKib, Object tenant) {
        int medium = (int) Math.min(MEDIUM_KIB, neededKib);
        if (bytes <= MAX_UNCHECKED_BYTES) {
            // Requests of this size do not use the permits for the objects of large requests (OBJECTS). Running calls
            // can hold all of these permits, and might even be waiting for this request.
            FairPermits.Result result = MEDIUM.acquire(tenant, medium, TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS));
            if (result != FairPermits.Result.ACQUIRED) {
                throw refusal(
                        bytes, "the objects of requests of up to 128 KiB", MEDIUM_KIB, "sixteenth", MEDIUM, result);
            }
            return -medium;
        }
        long patience = PATIENCE_MILLIS;
        if (bytes <= MEDIUM_BYTES && !OBJECTS.isHeldByRunningCalls()) {
            switch (MEDIUM.acquire(tenant, medium, TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS / 2))) {
                case ACQUIRED -> {
                    return -medium;
                }
                case TIMED_OUT -> patience -= PATIENCE_MILLIS / 2;
                case CROWDED -> {
                    // MEDIUM has refused the permits without waiting, so the request may wait the full time for permits
                    // of OBJECTS.
                }
            }
        }
        int kib = (int) Math.min(OBJECT_KIB, neededKib);
        FairPermits.Result result = OBJECTS.acquire(tenant, kib, TimeUnit.MILLISECONDS.toNanos(patience));
        if (result != FairPermits.Result.ACQUIRED) {
            throw refusal(bytes, "the objects of all requests", OBJECT_KIB, "quarter", OBJECTS, result);
        }
        return kib;
    }

    private static RpcException refusal(
            int bytes, String what, int kib, String share, FairPermits permits, FairPermits.Result result) {
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                "a request of " + bytes + " bytes was not decoded: " + what + " may take " + (kib >> 10) + " MiB (a "
                        + share + " of the heap), "
                        + (result == FairPermits.Result.CROWDED
                                ? permits.waiting() + " other requests wait for this memory (at most " + MAX_WAITING
                                        + ", shared between callers)"
                                : "and other requests did not end within " + PATIENCE_MILLIS + " ms"),
                Executed.NO);
    }

    /** Returns whether decoding a request of the given size needs permits. */
    public static boolean isChecked(int bytes) {
        return bytes > UNCHECKED_BYTES;
    }

    /** Returns the maximum memory for the objects of one request, in bytes. */
    public static long maxObjectBytes(int bytes) {
        return (long) bytes * OBJECTS_FACTOR;
    }

    /**
     * Takes permits for the decoded objects of a call that is about to run. Does not wait.
     *
     * @param objectBytes the memory of the objects
     * @return the permits, which the caller must pass to {@link #ended} when the call has ended
     */
    public static int hold(long objectBytes) {
        long kib = objectBytes >> 10;
        if (kib <= UNCHECKED_OBJECT_KIB) {
            return 0;
        }
        int permits = (int) Math.min(OBJECT_KIB, kib);
        OBJECTS.keep(permits);
        return permits;
    }

    /** @param permits the permits from {@link #hold} */
    public static void ended(int permits) {
        OBJECTS.giveBack(permits);
    }

    /** @param permits the permits from {@link #startReading} or {@link #startSkipping} */
    public static void release(int permits) {
        if (permits < 0) {
            MEDIUM.release(-permits);
        } else {
            OBJECTS.release(permits);
        }
    }

    /** Returns the memory left for request objects, in KiB; for tests. */
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
}
