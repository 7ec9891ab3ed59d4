package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSetting.Range;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;

/** Takes snapshots of the application's executors. */
final class ExecutorSnapshots {

    /** The name of the executor bean that Boot creates and configures from properties. */
    private static final String BOOTS = "applicationTaskExecutor";

    private static final String PREFIX = "spring.task.execution.pool.";

    /** The property of the executor that Boot creates if virtual threads are enabled. */
    private static final String CONCURRENCY_LIMIT = "spring.task.execution.simple.concurrency-limit";

    /** The displayed name of the core size of an executor that is not configured by properties. */
    private static final String CORE = "core size (setCorePoolSize)";

    private static final long NO_RECORD = -1;

    private ExecutorSnapshots() {}

    static PoolSnapshot of(String name, ThreadPoolTaskExecutor executor, TaskTimes times, SettingOrigins origins) {
        return times.into(builder(name, executor.getThreadPoolExecutor()))
                .settings(name.equals(BOOTS) ? settings(executor, origins) : core(executor.getThreadPoolExecutor()))
                .build();
    }

    /**
     * Returns an executor's settings. The core size counts as the pool's limit, because the executor starts more
     * threads only when its queue is full.
     */
    private static List<PoolSetting> settings(ThreadPoolTaskExecutor executor, SettingOrigins origins) {
        return List.of(
                origins.setting(PREFIX + "core-size", executor.getCorePoolSize(), Source.LIBRARY, Use.MAX)
                        .accepting(new Range(1, Math.min(BusinessPools.MAX_THREADS, executor.getMaxPoolSize()))),
                origins.setting(
                                PREFIX + "queue-capacity",
                                executor.getQueueCapacity(),
                                Source.LIBRARY,
                                Use.QUEUE_CAPACITY)
                        .accepting(new Range(0, Integer.MAX_VALUE)));
    }

    static PoolSnapshot of(String name, ThreadPoolExecutor pool, @Nullable TaskTimes times) {
        PoolSnapshot.Builder snapshot = builder(name, pool);
        return times == null
                ? snapshot.counts(pool.getCompletedTaskCount() + pool.getActiveCount(), NO_RECORD)
                        .settings(core(pool))
                        .build()
                : times.into(snapshot).settings(core(pool)).build();
    }

    /**
     * Returns the core size of one of the application's executors if it limits the number of threads. This is the case
     * if the executor starts more threads only while its queue is full. Otherwise returns an empty list.
     */
    private static List<PoolSetting> core(ThreadPoolExecutor pool) {
        int core = pool.getCorePoolSize();
        int most = Math.min(BusinessPools.MAX_THREADS, pool.getMaximumPoolSize());
        return core >= most || pool.getQueue().remainingCapacity() == 0
                ? List.of()
                : List.of(new PoolSetting(CORE, Integer.toString(core), Source.USER, Use.MAX)
                        .accepting(new Range(1, most)));
    }

    private static PoolSnapshot.Builder builder(String name, ThreadPoolExecutor pool) {
        int active = pool.getActiveCount();
        int waiting = pool.getQueue().size();
        int room = pool.getQueue().remainingCapacity();
        int max = room > 0 ? Math.max(1, pool.getCorePoolSize()) : pool.getMaximumPoolSize();
        return PoolSnapshot.builder(name, PoolKind.EXECUTOR, Math.max(max, active))
                .now(active, Math.max(0, max - active), waiting)
                .queueCapacity((int) Math.min(Integer.MAX_VALUE, (long) waiting + room));
    }

    /** Returns a snapshot of an executor that starts a new thread for each task, up to a limit of concurrent tasks. */
    static PoolSnapshot of(String name, SimpleAsyncTaskExecutor executor, TaskTimes times, SettingOrigins origins) {
        int limit = executor.getConcurrencyLimit();
        int max = limit < 0 ? Integer.MAX_VALUE : Math.max(1, limit);
        int active = Math.min(max, times.running());
        List<PoolSetting> settings = name.equals(BOOTS) && limit > 0
                ? List.of(origins.setting(CONCURRENCY_LIMIT, limit, Source.LIBRARY, Use.MAX)
                        .accepting(new Range(1, BusinessPools.MAX_THREADS)))
                : List.of();
        return times.into(PoolSnapshot.builder(name, PoolKind.EXECUTOR, max))
                .now(active, max - active, times.waiting())
                .settings(settings)
                .build();
    }

    /**
     * Returns a snapshot of an executor that hides its number of threads. The maximum in the snapshot is the largest
     * number of tasks that ran at once. While no task waits, the maximum is one higher, because the executor might have
     * a free thread.
     */
    static PoolSnapshot of(String name, TaskTimes times) {
        int waiting = times.waiting();
        int max = Math.max(1, waiting > 0 ? times.mostRunning() : times.mostRunning() + 1);
        int active = Math.min(max, times.running());
        return times.into(PoolSnapshot.builder(name, PoolKind.EXECUTOR, max))
                .now(active, max - active, waiting)
                .settings(List.of())
                .build();
    }

    static PoolSnapshot of(String name, ForkJoinPool pool) {
        int max = Math.max(1, pool.getParallelism());
        int active = Math.min(max, pool.getActiveThreadCount());
        return PoolSnapshot.builder(name, PoolKind.EXECUTOR, max)
                .now(
                        active,
                        max - active,
                        pool.getQueuedSubmissionCount()
                                + (int) Math.min(
                                        Integer.MAX_VALUE / 2,
                                        // the number of waiting tasks that were submitted by tasks of the same pool
                                        pool.getQueuedTaskCount()))
                .counts(NO_RECORD, NO_RECORD)
                .build();
    }
}
