package tern.rpc.serialization;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * Limits the threads that wait for a permit of {@link LargeMessages} to write a message. Each of them holds the object
 * that it writes, such as the result of a method. If two hundred threads waited with results of 4 MiB, the results
 * would need 800 MiB. A call that would exceed the limit fails at once, so that its object can be released.
 * Thread-safe.
 */
final class WaitingWriters {

    /** One thread may wait for each {@value} bytes of the heap. A message has up to 8 MiB by default. */
    private static final long HEAP_BYTES = 16 << 20;

    private static final int MIN_WAITING = 8;

    private static final int MAX_WAITING = maxWaiting(Runtime.getRuntime().maxMemory());
    private static final AtomicInteger WAITING = new AtomicInteger();

    private WaitingWriters() {}

    /** @param heap the maximum size of the heap */
    static int maxWaiting(long heap) {
        return (int) Math.max(MIN_WAITING, Math.min(Integer.MAX_VALUE, heap / HEAP_BYTES));
    }

    /** Returns the number of threads that wait, for tests. */
    static int waiting() {
        return WAITING.get();
    }

    /**
     * Takes a permit of {@link LargeMessages}.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if too many threads are waiting, or if no permit becomes available within
     *     three seconds
     */
    static void enter(@Nullable MessageKind kind) {
        enter(kind, MAX_WAITING);
    }

    static void enter(@Nullable MessageKind kind, int maxWaiting) {
        if (WAITING.incrementAndGet() > maxWaiting) {
            WAITING.decrementAndGet();
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a message of more than " + LargeMessages.LARGE_BYTES + " bytes was not written or unpacked: "
                            + maxWaiting + " threads already wait to write messages of that size (one for each "
                            + (HEAP_BYTES >> 20) + " MiB of the heap)",
                    kind == MessageKind.RESPONSE ? Executed.YES : Executed.NO);
        }
        try {
            LargeMessages.enter(kind);
        } finally {
            WAITING.decrementAndGet();
        }
    }
}
