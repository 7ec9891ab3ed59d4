package tern.rpc.server;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Share;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.ServiceLookup;

/**
 * Threads for the methods that hold few threads. If calls to a slow method from many tenants occupy all other threads,
 * calls to the other methods still run.
 *
 * <p>A call may use one of these threads only while all regular threads are busy, and only if its method holds at most
 * 1/{@value #FEW_PART} of their number. As many calls as there are threads may wait for one, because a thread is still
 * counted for a short time after it has sent an answer. A tenant may have at most as many running and waiting calls as
 * there are free places. Thread-safe. A race may cause a few calls to be wrongly accepted.
 */
final class MethodReserve {

    /** The number of regular threads for each thread of the reserve. */
    private static final int RESERVE_PART = 8;

    private static final int FEW_PART = 16;

    /** Counting the threads of each method takes microseconds, so the counts are reused for this time. */
    private static final long COUNTS_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final WorkerPool threads;
    private final ReservedWorkers workers;
    private final int few;
    private final ServiceLookup services;
    private final Supplier<Map<MethodDescriptor, Integer>> threadsOfMethods;
    private final NanoClock clock;
    private volatile Counts counts;

    private record Counts(Map<MethodDescriptor, Integer> threads, long untilNanos) {}

    /**
     * @param threads the threads of the reserve
     * @param regular the number of regular threads
     * @param services finds the method of a call
     * @param threadsOfMethods counts the threads that each method holds, by {@link #key}
     */
    MethodReserve(
            WorkerPool threads,
            int regular,
            ServiceLookup services,
            Supplier<Map<MethodDescriptor, Integer>> threadsOfMethods,
            NanoClock clock) {
        this.threads = threads;
        this.workers = new ReservedWorkers(threads);
        this.few = regular / FEW_PART;
        this.services = services;
        this.threadsOfMethods = threadsOfMethods;
        this.clock = clock;
        this.counts = new Counts(Map.of(), clock.nanoTime());
    }

    /** Returns the number of threads in the reserve. There is no reserve with few regular threads. */
    static int threads(int regular) {
        return regular / RESERVE_PART;
    }

    /** Returns whether the call's method is known and holds few threads. Does not decode the request. */
    boolean isFor(ServerCall call) {
        MethodDescriptor method = call.peekMethod(services);
        return method != null && current().getOrDefault(key(method), 0) <= few;
    }

    /** Returns the first overload of the method, which stands for all of them when threads are counted. */
    static MethodDescriptor key(MethodDescriptor method) {
        return method.service().overloads(method.name()).get(0);
    }

    private Map<MethodDescriptor, Integer> current() {
        Counts known = counts;
        long now = clock.nanoTime();
        if (now - known.untilNanos >= 0) {
            known = new Counts(threadsOfMethods.get(), now + COUNTS_NANOS);
            counts = known;
        }
        return known.threads;
    }

    /**
     * Passes a call to the reserve.
     *
     * @param tenant the share of the call's tenant, or null if tenants do not matter
     * @return whether a thread will run the call
     */
    boolean offer(ServedCall call, @Nullable Share tenant) {
        return workers.offer(call, tenant) == null;
    }

    /** Returns the number of running calls. */
    int active() {
        return threads.active();
    }
}
