package tern.rpc.diagnosis.sample;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The names of executors in pool snapshots, and the names of their threads. If an application does not name the threads
 * of an executor, the two names differ, for example {@code loaders} and {@code pool-2-thread-1}. Thread-safe.
 */
public final class ExecutorNames {

    private static final int MAX_NAMES = 128;

    /**
     * The name of {@code ForkJoinPool.commonPool()} in pool snapshots. The pool's threads have names with a different
     * prefix.
     */
    public static final String COMMON_POOL = "common-pool";

    /** The name of the threads of {@code ForkJoinPool.commonPool()}. */
    public static final String COMMON_THREADS = "ForkJoinPool.commonPool";

    /** The bean name of the executor that Spring Boot creates. */
    private static final String BOOT_POOL = "applicationTaskExecutor";

    private static final String BOOT_THREADS = "task";

    /** The name of waits for a thread of Reactor's scheduler for blocking work. */
    public static final String REACTOR = "reactor";

    private static final String REACTOR_THREADS = "boundedElastic";

    /** The system property that sets the number of threads of Reactor's scheduler for blocking work. */
    public static final String ELASTIC_SIZE = "-Dreactor.schedulers.defaultBoundedElasticSize";

    /**
     * Maps the common name of a pool's threads to the name of the pool. Contains only pools whose snapshots contain the
     * name of a thread.
     */
    private static final ConcurrentMap<String, String> POOLS = new ConcurrentHashMap<>();

    /** For each pool in {@link #POOLS}, by the name of the pool: the name without number that all its threads share. */
    private static final ConcurrentMap<String, String> THREADS = new ConcurrentHashMap<>();

    private ExecutorNames() {}

    /**
     * Stores the common name of the threads of a pool. If the threads of several pools have the same name, the name is
     * stored only for the first of these pools. Nothing is stored for an executor whose tasks run in the common pool,
     * because this executor has no threads.
     */
    public static void learn(String pool, String threads) {
        boolean areOwn = !threads.isEmpty() && !threads.equals(COMMON_THREADS);
        if (areOwn && POOLS.size() < MAX_NAMES && POOLS.putIfAbsent(threads, pool) == null) {
            THREADS.put(pool, threads);
        }
    }

    /** Returns the name of an executor's pool. Most pools have the same name as their threads. */
    public static String poolOf(String threads) {
        String known = POOLS.get(threads);
        if (known != null) {
            return known;
        }
        return switch (threads) {
            case COMMON_THREADS -> COMMON_POOL;
            case BOOT_THREADS -> BOOT_POOL;
            case REACTOR_THREADS -> REACTOR;
            default -> threads;
        };
    }

    /** Returns the name of the threads of an executor's pool. */
    public static String threadsOf(String pool) {
        String known = THREADS.get(pool);
        if (known != null) {
            return known;
        }
        return switch (pool) {
            case COMMON_POOL -> COMMON_THREADS;
            case BOOT_POOL -> BOOT_THREADS;
            case REACTOR -> REACTOR_THREADS;
            default -> pool;
        };
    }
}
