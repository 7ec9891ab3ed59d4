package tern.rpc.diagnosis;

import java.util.concurrent.ForkJoinPool;
import tern.rpc.diagnosis.Part.Kind;

/** Recognizes threads that wait for the JVM's common pool, and whether this pool has a free thread. */
final class CommonPool {

    /** From this version of Java on, futures always use the common pool. */
    private static final int ALWAYS_COMMON = 25;

    private CommonPool() {}

    /**
     * Returns whether asynchronous stages of futures run in the common pool. Before Java 25, they do not if the pool
     * has only one thread.
     */
    static boolean isUsedByFutures() {
        return ForkJoinPool.getCommonPoolParallelism() > 1 || Runtime.version().feature() >= ALWAYS_COMMON;
    }

    /**
     * Returns whether all threads of the common pool are busy now, and further tasks wait for them. The pool is often
     * full for a short time only, so the state of one moment a second does not show how long calls wait for it.
     */
    static boolean isFull() {
        return isFull(ForkJoinPool.commonPool());
    }

    /** Returns whether all threads of the given pool are busy now, and further tasks wait for them. */
    static boolean isFull(ForkJoinPool pool) {
        return (pool.hasQueuedSubmissions() || pool.getQueuedTaskCount() > 0)
                && pool.getActiveThreadCount() >= Math.max(1, pool.getParallelism());
    }

    /**
     * Returns what a thread outside of calls does. If it waits for an answer of the JDK's HTTP client while the common
     * pool is full, it most likely waits for this pool and not for the peer.
     */
    static Part read(ThreadLook thread, boolean isFull) {
        Part read = StackReader.read(thread);
        return isFull && read.kind() == Kind.HTTP && isUsedByFutures() && StackReader.awaitsCommonPool(thread)
                ? new Part(Kind.POOL, ExecutorNames.COMMON_POOL)
                : read;
    }
}
