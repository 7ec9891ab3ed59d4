package tern.rpc.diagnosis.text;

import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.remedy.Remedy;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/**
 * Recommends numbers of threads for executors. The numbers are computed with a queueing formula, because {@link
 * ReplayModel} replays only recorded calls, and not the tasks of an executor. The core size of a JDK executor is often
 * more important than the maximum number of threads: the executor starts more threads than its core size only when its
 * queue is full.
 */
final class ExecutorSize {

    private static final String ONLY_WHEN_FULL = "starts more threads than its core size only when its queue is full";

    private ExecutorSize() {}

    /**
     * Returns the advice to give the executor {@code threads} threads; null if no setting of the executor allows this
     * number.
     */
    static @Nullable Change of(PoolSnapshot pool, int threads, Machine machine) {
        PoolSetting setting = pool.setting(PoolSetting.Use.MAX).orElse(null);
        boolean fits = setting != null
                && threads > pool.max()
                && setting.accepted().nearest(threads) == threads
                && !machine.isFull();
        if (setting == null || !fits) {
            return null;
        }
        return hasProperty(setting)
                ? new Remedy.Size(setting, threads, -1e6).change()
                : Change.of(
                        Where.CODE,
                        "set " + setting.property() + " to " + threads + " instead of " + setting.value()
                                + " for the executor \"" + pool.name() + "\": it may start "
                                + setting.accepted().most() + " threads, but " + ONLY_WHEN_FULL);
    }

    /** Returns the advice to create the executor with {@code threads} threads in the application's code. */
    static Change moreThreads(PoolSnapshot pool, int threads) {
        return Change.of(
                Where.CODE,
                "set " + threads + " threads for the executor \"" + pool.name() + "\" instead of " + pool.max()
                        + (core(pool) == null
                                ? ""
                                : ": set both its core size and its maximum, because it " + ONLY_WHEN_FULL));
    }

    /**
     * Returns the advice to enlarge the core size, if a small core size keeps the executor from starting its maximum
     * number of threads; empty otherwise.
     */
    static String hint(PoolSnapshot pool) {
        PoolSetting core = core(pool);
        return core == null
                ? ""
                : "; or raise its core size: it may start " + core.accepted().most() + " threads, but "
                        + ONLY_WHEN_FULL;
    }

    /**
     * Returns the setting for the core size of an executor whose maximum number of threads exceeds its core size; null
     * for any other executor.
     */
    private static @Nullable PoolSetting core(PoolSnapshot pool) {
        PoolSetting setting = pool.setting(PoolSetting.Use.MAX).orElse(null);
        return setting != null && !hasProperty(setting) && setting.accepted().most() > pool.max() ? setting : null;
    }

    private static boolean hasProperty(PoolSetting setting) {
        return setting.property().contains(".");
    }
}
