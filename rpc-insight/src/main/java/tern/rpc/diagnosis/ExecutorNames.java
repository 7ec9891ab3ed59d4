package tern.rpc.diagnosis;

/**
 * The names of executors in pool snapshots, and the names of their threads. The two names differ only for a few
 * executors that applications do not name.
 */
final class ExecutorNames {

    /**
     * The name of {@code ForkJoinPool.commonPool()} in pool snapshots. The pool's threads have names with a different
     * prefix.
     */
    static final String COMMON_POOL = "common-pool";

    /** The name of the threads of {@code ForkJoinPool.commonPool()}. */
    static final String COMMON_THREADS = "ForkJoinPool.commonPool";

    /** The name of the executor that Spring Boot creates. */
    private static final String BOOT_POOL = "applicationTaskExecutor";

    private static final String BOOT_THREADS = "task";

    /** The name of the wait for a thread of Reactor's schedulers, which run blocking tasks. */
    private static final String REACTOR = "reactor";

    private static final String REACTOR_THREADS = "boundedElastic";

    private ExecutorNames() {}

    /** Returns the name of an executor's pool. Most pools have the same name as their threads. */
    static String poolOf(String threads) {
        return switch (threads) {
            case COMMON_THREADS -> COMMON_POOL;
            case BOOT_THREADS -> BOOT_POOL;
            case REACTOR_THREADS -> REACTOR;
            default -> threads;
        };
    }

    /** Returns the name of the threads of an executor's pool. */
    static String threadsOf(String pool) {
        return switch (pool) {
            case COMMON_POOL -> COMMON_THREADS;
            case BOOT_POOL -> BOOT_THREADS;
            case REACTOR -> REACTOR_THREADS;
            default -> pool;
        };
    }
}
