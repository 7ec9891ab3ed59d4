package tern.rpc.serialization;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * A kind of work on large messages, which only a few threads may do at the same time. An encoded message exists in
 * memory up to three times. Without this limit, 200 workers with answers of 8 MiB would need almost 5 GB, and would be
 * no faster than four workers. Tenants get permits for this work in turn, and at most half of the waiting threads may
 * belong to one tenant. A call fails if its thread waits for more than three seconds. Thread-safe.
 */
public final class LargeWork {

    /** The maximum size of an array that needs no permit. A waiting thread already holds an array of this size. */
    static final int LARGE_BYTES = 256 << 10;

    /** The tenant of this process's own calls. */
    public static final Object OWN_CALLS = new Object();

    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    private static final int THREADS_PER_PROCESSOR = 2;
    private static final long PATIENCE_MILLIS = 3_000;

    /**
     * For every {@value} bytes of the heap, one thread may wait to write a message. A message has up to 8 MiB by
     * default.
     */
    private static final long HEAP_OF_A_WAITING_THREAD = 16 << 20;

    private static final int MIN_WAITING = 16;

    /**
     * For every {@value} bytes of the heap, one thread may write a message. A message of 8 MiB occupies up to 28 MiB
     * while it is written. This memory contains the object, the array, a second array while the array grows, and the
     * copy that is sent.
     */
    private static final long HEAP_OF_A_WRITER = 128 << 20;

    /** The minimum number of threads that may write, so that one slow thread does not block all other threads. */
    private static final int MIN_WRITERS = 2;

    /** Objects waiting to be written may occupy at most 1/{@value} of the heap. */
    private static final int HEAP_SHARE_OF_WAITING = 8;

    /** The minimum number of threads that may wait, so that threads of two tenants can wait at the same time. */
    private static final int MIN_PLACES = 2;

    /** The assumed size of a message before any message has been written. */
    private static final int FIRST_BYTES = 2 << 20;

    /** Each message that is smaller than expected reduces the expected size by 1/{@value}. */
    private static final int REDUCTION = 64;

    /**
     * The maximum number of threads that may wait for each kind of work. Each waiting writer holds the object to be
     * written, such as a result. Additional calls fail immediately, so that their objects can be released.
     */
    private static final int MAX_WAITING = maxWaiting(Runtime.getRuntime().maxMemory());

    static final LargeWork WRITE = ofWriters(Runtime.getRuntime().maxMemory(), PROCESSORS);
    static final LargeWork UNPACK =
            new LargeWork("unpacked", "unpack", THREADS_PER_PROCESSOR * PROCESSORS, MAX_WAITING);

    /**
     * The maximum number of threads that may wait for a permit to decode. The waiting threads are workers, and other
     * calls also need workers.
     */
    private static final int MAX_WAITING_TO_DECODE = Math.min(MAX_WAITING, 32);

    /**
     * Decompresses and decodes requests that were compressed. One processor is left free for other work, because even a
     * few compressed bytes can take a long time to process.
     */
    private static final LargeWork DECODE_UNPACKED =
            new LargeWork("decoded", "decode", Math.max(1, PROCESSORS - 1), MAX_WAITING_TO_DECODE);

    /** Hashes and compares keys that take many steps. One processor is left free for other work. */
    private static final LargeWork HASH = new LargeWork(
            "decoded, because hashing its keys takes many steps",
            "decode",
            Math.max(1, PROCESSORS - 1),
            MAX_WAITING_TO_DECODE);

    /** The maximum decompressed size of a request that is decompressed and decoded without a permit. */
    private static final int MAX_UNCHECKED_BYTES = 64 << 10;

    /** The maximum decompressed size of a request that never needs a permit to be decompressed and decoded. */
    private static final int MIN_UNCHECKED_BYTES = 8 << 10;

    /**
     * A request that grows to more than {@value} times its size when it is decompressed needs a permit, even if it is
     * not large.
     */
    private static final int UNCHECKED_RATIO = 16;

    private final int threads;
    private final int maxWaiting;
    private final long maxWaitingBytes;
    private final FairPermits permits;
    private final AtomicInteger entering = new AtomicInteger();
    private final String done;
    private final String verb;
    // the estimated size of the next message; lost updates are harmless
    private volatile int expectedBytes = FIRST_BYTES;

    /**
     * @param done the past participle of the verb for error messages, such as {@code written}
     * @param threads the number of threads that may work at the same time
     * @param maxWaiting the maximum number of waiting threads
     */
    LargeWork(String done, String verb, int threads, int maxWaiting) {
        this(done, verb, threads, maxWaiting, Long.MAX_VALUE);
    }

    private LargeWork(String done, String verb, int threads, int maxWaiting, long maxWaitingBytes) {
        this.maxWaitingBytes = maxWaitingBytes;
        this.done = done;
        this.verb = verb;
        this.threads = threads;
        this.maxWaiting = maxWaiting;
        this.permits = new FairPermits(threads, maxWaiting, NanoClock.SYSTEM);
    }

    /** @param heap the maximum size of the heap */
    static LargeWork ofWriters(long heap, int processors) {
        int threads =
                (int) Math.max(MIN_WRITERS, Math.min(THREADS_PER_PROCESSOR * processors, heap / HEAP_OF_A_WRITER));
        return new LargeWork("written", "write", threads, maxWaiting(heap), heap / HEAP_SHARE_OF_WAITING);
    }

    /**
     * Returns the maximum decompressed size of a compressed request that needs no permit. The result is 16 times the
     * compressed size, but at least 8 KiB and at most 64 KiB. A request that becomes larger causes a lot of work
     * although it consists of only a few bytes.
     */
    public static int uncheckedBytes(int compressedBytes) {
        return (int)
                Math.max(MIN_UNCHECKED_BYTES, Math.min(MAX_UNCHECKED_BYTES, (long) UNCHECKED_RATIO * compressedBytes));
    }

    /**
     * Waits until a request that was compressed may be decompressed or decoded. Must not be called on an event loop.
     *
     * @param unchecked the result of {@link #uncheckedBytes}, which the decompressed size exceeds
     * @param tenant identifies the caller
     * @return the work, which the caller must pass to {@link #end}
     * @throws RpcException RESOURCE_EXHAUSTED if no permit becomes available within three seconds, or if too many other
     *     threads are waiting
     */
    public static LargeWork startDecodingUnpacked(int unchecked, Object tenant) {
        DECODE_UNPACKED.enter(Executed.NO, unchecked, tenant);
        return DECODE_UNPACKED;
    }

    /**
     * Waits until the calling thread may hash keys that take unusually many steps for a message of this size. Must not
     * be called on an event loop.
     *
     * @param bytes the size of the message
     * @param sender identifies the sender of the message; senders get permits in turn
     * @return the work, which the caller must pass to {@link #end}
     * @throws RpcException RESOURCE_EXHAUSTED in the same cases as {@link #startDecodingUnpacked}. The call may have
     *     been executed, because the message may be an answer
     */
    public static LargeWork startHashing(int bytes, Object sender) {
        HASH.enter(Executed.MAYBE, bytes - 1, sender);
        return HASH;
    }

    /** @param work the result of {@link #startDecodingUnpacked} or {@link #startHashing}; null for none */
    public static void end(@Nullable LargeWork work) {
        if (work != null) {
            work.leave();
        }
    }

    /**
     * Takes a permit for this work on a message of more than {@value #LARGE_BYTES} bytes.
     *
     * @param tenant identifies the caller
     * @throws RpcException RESOURCE_EXHAUSTED if too many threads are waiting, or if no permit becomes available within
     *     three seconds
     */
    void enter(@Nullable MessageKind kind, Object tenant) {
        enter(kind == MessageKind.RESPONSE ? Executed.YES : Executed.NO, LARGE_BYTES, tenant);
    }

    private void enter(Executed executed, int bytes, Object tenant) {
        int places = places();
        // Threads are counted before they wait for the lock, because each waiting thread already holds an object to
        // write.
        if (entering.incrementAndGet() > places + threads) {
            entering.decrementAndGet();
            throw refusal(executed, bytes, crowded(places, places));
        }
        FairPermits.Result result;
        try {
            result = permits.acquire(tenant, 1, TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS), places);
        } finally {
            entering.decrementAndGet();
        }
        if (result != FairPermits.Result.ACQUIRED) {
            throw refusal(
                    executed,
                    bytes,
                    result == FairPermits.Result.CROWDED
                            ? crowded(permits.waiting(), places)
                            : threads + " threads are busy with other messages of this size, and none ended within "
                                    + PATIENCE_MILLIS + " ms");
        }
    }

    private String crowded(int waiting, int places) {
        return waiting + " threads already wait to " + verb + " messages of this size (at most " + places
                + ", shared between callers)";
    }

    private RpcException refusal(Executed executed, int bytes, String reason) {
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                "a message of more than " + bytes + " bytes was not " + done + ": " + reason,
                executed);
    }

    void leave() {
        permits.release(1);
    }

    /** Returns the permit after a message of the given size has been written, and adjusts the expected size. */
    void leave(int bytes) {
        int expected = expectedBytes;
        expectedBytes = Math.max(bytes, expected - expected / REDUCTION);
        permits.release(1);
    }

    /**
     * Raises the expected message size to the size that an incomplete message has reached. Called by a thread with a
     * permit.
     */
    void reached(int bytes) {
        if (bytes > expectedBytes) {
            expectedBytes = bytes;
        }
    }

    /**
     * Returns the maximum number of waiting threads. The size of an object is known only after it has been written.
     * Therefore the size is estimated from the sizes of previous messages.
     */
    int places() {
        return (int) Math.max(MIN_PLACES, Math.min(maxWaiting, maxWaitingBytes / expectedBytes));
    }

    /** Returns the number of available permits, for tests. */
    int free() {
        return permits.available();
    }

    /** Returns the number of threads waiting for a permit, for tests. */
    int waiting() {
        return permits.waiting();
    }

    /** @param heap the maximum size of the heap */
    static int maxWaiting(long heap) {
        return (int) Math.max(MIN_WAITING, Math.min(Integer.MAX_VALUE, heap / HEAP_OF_A_WAITING_THREAD));
    }
}
