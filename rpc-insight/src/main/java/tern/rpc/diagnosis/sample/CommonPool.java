package tern.rpc.diagnosis.sample;

import java.util.List;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.PoolSnapshot;

/** Recognizes threads waiting for the JVM's common pool, and whether one of its threads is free. */
public final class CommonPool {

    /** Since this version of Java, the asynchronous methods of CompletableFuture always use the common pool. */
    private static final int ALWAYS_COMMON = 25;

    private CommonPool() {}

    /**
     * Returns whether asynchronous stages of futures run in the common pool. Before Java 25, the stages do not run
     * there if the pool has only one thread.
     */
    public static boolean isUsedByFutures() {
        return ForkJoinPool.getCommonPoolParallelism() > 1 || Runtime.version().feature() >= ALWAYS_COMMON;
    }

    /**
     * Returns whether all threads of the common pool are busy and other tasks are waiting. The pool is often full only
     * briefly, so sampling its state once per second does not show how long calls wait for it.
     */
    public static boolean isFull() {
        return isFull(ForkJoinPool.commonPool());
    }

    /** Returns whether all threads of the given pool are busy and other tasks are waiting. */
    public static boolean isFull(ForkJoinPool pool) {
        return (pool.hasQueuedSubmissions() || pool.getQueuedTaskCount() > 0)
                && pool.getActiveThreadCount() >= Math.max(1, pool.getParallelism());
    }

    /**
     * Returns the activity of a thread that serves no call. A thread waiting for an answer through the JDK's HTTP
     * client while the common pool is full most likely waits for this pool and not for the peer.
     */
    public static Part read(ThreadSnapshot thread, boolean isFull) {
        Part read = StackReader.read(thread);
        return isFull && read.kind() == Kind.HTTP && isUsedByFutures() && StackReader.awaitsCommonPool(thread)
                ? new Part(Kind.POOL, ExecutorNames.COMMON_POOL)
                : read;
    }

    public static boolean isOne(PoolVerdict verdict) {
        return verdict.name().equals(ExecutorNames.COMMON_POOL);
    }

    /**
     * Returns the cause description for a busy common pool. More threads are never recommended: the JVM derives their
     * number from the number of processors, and all code in the process shares these threads.
     *
     * @param tasks the samples of the pool's threads; null if there are none
     */
    public static CauseDescription describe(PoolSnapshot pool, @Nullable TaskSamples tasks, List<String> facts) {
        String threads = pool.max() == 1 ? "its only thread is" : "all of its " + pool.max() + " threads are";
        String busy = threads + " busy" + (tasks == null || tasks.parts.isEmpty() ? "" : ", mostly " + tasks.mostly());
        String change = tasks == null || tasks.isMostlyBlocked()
                ? "use a separate executor for the tasks that wait in \"" + pool.name()
                        + "\" (pass it to supplyAsync or runAsync, or use it instead of a parallel stream): " + busy
                        + "; all code of the process shares this pool, and its few threads are meant for tasks that"
                        + " compute"
                : "run fewer or shorter tasks in \"" + pool.name()
                        + "\", or use a separate executor for the long tasks: " + busy
                        + "; its tasks compute, so more threads than processors would not make them quicker";
        return new CauseDescription("COMMON POOL BUSY", pool.name(), Change.of(Where.CODE, change), facts);
    }
}
