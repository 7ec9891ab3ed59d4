package tern.rpc.serialization;

import java.util.concurrent.TimeUnit;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * Limits the memory for large results while methods create them and threads encode them. A call to a method whose
 * recent results were large starts only when its result is expected to fit into a quarter of the heap together with the
 * results of the other running calls. A result that is larger than this memory is created while no other large result
 * is. Tenants get the memory in turn, and one tenant has at most half of the places to wait. A call fails if its thread
 * waits for more than three seconds. Thread-safe.
 */
public final class LargeResults {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final int HEAP_SHARE = 4;

    /** Waiting calls occupy threads, so only a few may wait. */
    private static final int WAITING_PER_PROCESSOR = 16;

    private static final int MAX_WAITING =
            WAITING_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();
    private static final int KIB = LargeMessages.kibOfHeap(HEAP_SHARE);
    private static final FairPermits MEMORY = new FairPermits(KIB, MAX_WAITING, NanoClock.SYSTEM);

    private LargeResults() {}

    /**
     * Waits until the result of a call fits into memory. Must not be called on an event loop.
     *
     * @param kib the expected memory of the result, in KiB
     * @param tenant identifies the caller
     * @param maxNanos the maximum time to wait, if it is shorter than three seconds
     * @param method the name of the method, for error messages
     * @return the permits, which the caller must pass to {@link #end} when the answer has been queued
     * @throws RpcException RESOURCE_EXHAUSTED if the result does not fit in time, or if too many other calls wait
     */
    public static int start(long kib, Object tenant, long maxNanos, String method) {
        int permits = (int) Math.min(KIB, kib);
        FairPermits.Result result = MEMORY.acquire(tenant, permits, Math.min(PATIENCE_NANOS, maxNanos));
        if (result != FairPermits.Result.ACQUIRED) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "the call was refused: a result of " + method + " is expected to take " + (kib >> 10)
                            + " MiB, the results of all calls may take " + (KIB >> 10)
                            + " MiB (a quarter of the heap), "
                            + (result == FairPermits.Result.CROWDED
                                    ? MEMORY.waiting() + " other calls wait for this memory (at most " + MAX_WAITING
                                            + ", shared between callers)"
                                    : "and other calls did not end in time"),
                    Executed.NO);
        }
        return permits;
    }

    /** @param permits the permits from {@link #start} */
    public static void end(int permits) {
        if (permits > 0) {
            MEMORY.release(permits);
        }
    }

    /** Returns the number of calls that wait for memory. */
    public static int waiting() {
        return MEMORY.waiting();
    }

    /** Returns the memory in KiB that is left for results. */
    public static int freeKib() {
        return MEMORY.available();
    }
}
