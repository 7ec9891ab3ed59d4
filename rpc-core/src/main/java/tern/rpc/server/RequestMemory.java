package tern.rpc.server;

import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.LargeMessages;
import tern.rpc.transport.ServerCall;

/**
 * Estimates the memory of the objects decoded from a large request. The estimate is the number of bytes that the thread
 * allocates while it decodes the request. This number is an upper bound for every serialization format.
 */
final class RequestMemory {

    private static final long UNKNOWN = -1;
    private static final com.sun.management.@Nullable ThreadMXBean THREADS = threads();

    private RequestMemory() {}

    private static com.sun.management.@Nullable ThreadMXBean threads() {
        return ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean bean
                        && bean.isThreadAllocatedMemorySupported()
                        && bean.isThreadAllocatedMemoryEnabled()
                ? bean
                : null;
    }

    /**
     * Returns the current number of allocated bytes. After the request has been decoded, the caller passes this number
     * to {@link #since} on the same thread.
     */
    static long mark(ServerCall call) {
        return LargeMessages.isChecked(call.requestBytes()) ? allocated() : UNKNOWN;
    }

    /**
     * Returns the number of bytes that were allocated while the request was decoded. The result is at most the maximum
     * size of the request's objects, because authorizers and class loading also allocate memory. Returns 0 for a small
     * request, or if this JVM or thread does not count the bytes.
     */
    static long since(long mark, ServerCall call) {
        return mark == UNKNOWN ? 0 : Math.min(allocated() - mark, LargeMessages.maxObjectBytes(call.requestBytes()));
    }

    private static long allocated() {
        return THREADS == null ? UNKNOWN : THREADS.getCurrentThreadAllocatedBytes();
    }
}
