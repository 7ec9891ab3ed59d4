package tern.rpc.server;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.concurrent.WorkerPool;

/** The thread pools of a server. Threads are created when they are needed. Thread-safe. */
final class ServerPools implements AutoCloseable {

    /**
     * For every {@value} workers, one additional worker with a short queue is reserved for critical services
     * (docs/limits.md).
     */
    private static final int KEPT_FOR_CRITICAL = 20;

    private static final int QUEUED_PER_KEPT = 16;

    private final WorkerPool workers;
    private final @Nullable WorkerPool spare;
    private final WorkerPool reserve;
    private final @Nullable WorkerPool methodReserve;
    private final WorkerPool callbacks;
    private final @Nullable WorkerPool spareCallbacks;

    ServerPools(int threads, int queueCapacity, Duration keepAlive, ThreadFactory factory) {
        this.workers = new WorkerPool(threads, queueCapacity, keepAlive, factory);
        int beside = FairWorkers.spareThreads(threads);
        this.spare = beside == 0 ? null : new WorkerPool(beside, beside, keepAlive, factory);
        int kept = Math.max(1, threads / KEPT_FOR_CRITICAL);
        this.reserve = new WorkerPool(kept, kept * QUEUED_PER_KEPT, keepAlive, factory);
        int forMethods = MethodReserve.threads(threads);
        this.methodReserve = forMethods == 0 ? null : new WorkerPool(forMethods, forMethods, keepAlive, factory);
        // Stream callbacks have separate pools, because a method that waits for its requests blocks its worker. A
        // callback can wait for callbacks of other streams. Therefore, these pools grow while all their threads are
        // blocked.
        this.callbacks = WorkerPool.growing(threads, queueCapacity, keepAlive, factory, StreamThreads::giveUp);
        this.spareCallbacks =
                beside == 0 ? null : WorkerPool.growing(beside, beside, keepAlive, factory, StreamThreads::giveUp);
    }

    /** Returns the threads that run methods. */
    WorkerPool workers() {
        return workers;
    }

    /**
     * Returns the spare threads. While all workers are busy, spare threads run calls from tenants whose calls occupy
     * few threads. Returns null if there are no spare threads.
     */
    @Nullable
    WorkerPool spare() {
        return spare;
    }

    /** Returns the threads for critical services. */
    WorkerPool reserve() {
        return reserve;
    }

    /**
     * Returns the method reserve. While all workers are busy, its threads run calls to methods that occupy few threads.
     * Returns null if there is no reserve.
     */
    @Nullable
    WorkerPool methodReserve() {
        return methodReserve;
    }

    /** Returns the threads that run stream callbacks. */
    WorkerPool callbacks() {
        return callbacks;
    }

    /**
     * Returns the spare threads that run stream callbacks of tenants whose callbacks occupy few threads; null if there
     * are no such threads.
     */
    @Nullable
    WorkerPool spareCallbacks() {
        return spareCallbacks;
    }

    List<WorkerPool> all() {
        return Stream.of(workers, spare, reserve, methodReserve, callbacks, spareCallbacks)
                .filter(Objects::nonNull)
                .toList();
    }

    @Override
    public void close() {
        all().forEach(WorkerPool::close);
    }
}
