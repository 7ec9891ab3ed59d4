package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
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

    private static final long NO_RECORD = -1;

    private ExecutorSnapshots() {}

    static PoolSnapshot of(String name, ThreadPoolTaskExecutor executor, TaskTimes times, SettingOrigins origins) {
        return times.into(builder(name, executor.getThreadPoolExecutor()))
                .settings(name.equals(BOOTS) ? settings(executor, origins) : List.of())
                .build();
    }

    /**
     * Returns an executor's settings. The core size limits the pool as long as its queue is not full, because the
     * executor starts further threads only when the queue is full.
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
                        .build()
                : times.into(snapshot).build();
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
                                        pool.getQueuedTaskCount())) // includes tasks submitted by other tasks
                .counts(NO_RECORD, NO_RECORD)
                .build();
    }
}
