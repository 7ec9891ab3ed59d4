package tern.rpc.diagnosis.remedy;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.CallTrace;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.pool.PoolSizes;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/**
 * Checks whether a pool size may be recommended. The library must accept the size, the size must be larger than the
 * current one, and the processors must not be fully used. A replay of the most recent calls with the new size must meet
 * the latency target. A replay with the current sizes must approximately reproduce the measured times.
 */
public final class Remedy {

    private static final int MAX_SIZE = 2_000;

    private final Evidence evidence;
    private final List<ObservedPool> pools;

    public Remedy(Evidence evidence) {
        this.evidence = evidence;
        this.pools = evidence.pools();
    }

    /**
     * A recommended pool size.
     *
     * @param expectedNanos the expected 99th percentile of the calls' times with this size, in nanoseconds; negative if
     *     unknown
     */
    public record Size(PoolSetting setting, int value, double expectedNanos) {

        /** Returns the advice to set the pool's size to the recommended value. */
        public Change change() {
            return new Change(
                    Where.PROPERTY,
                    setting.property() + "=" + value,
                    setting.property(),
                    setting.value(),
                    Integer.toString(value),
                    expectedNanos / 1e6);
        }
    }

    /**
     * Returns the smallest size that lets calls meet the latency target. Returns null if there is no such size, or if
     * the times of a replay with the current sizes differ too much from the measured times.
     *
     * @param from the smallest size to try
     */
    @Nullable
    public Size of(ObservedPool pool, PoolSetting.Use use, int from) {
        PoolSetting setting = pool.now().setting(use).orElse(null);
        if (setting == null || evidence.machine().isFull()) {
            return null; // A larger pool would only make more calls wait for a processor.
        }
        boolean forWorkers = pool.now().kind() == PoolKind.WORKERS;
        int workers = workers();
        int current = pool.now().effectiveMax();
        int places = forWorkers ? ReplayModel.UNLIMITED : current;
        ReplayModel model = model(pool, false);
        if (!model.isReliable(workers, places)) {
            model = model(pool, true);
        }
        if (!model.isReliable(workers, places)) {
            return null;
        }
        ReplayModel.Outcome now = model.replay(workers, places);
        for (int size = Math.max(from, current + 1); size <= MAX_SIZE; size += Math.max(1, size / 4)) {
            ReplayModel.Outcome then =
                    forWorkers ? model.replay(size, ReplayModel.UNLIMITED) : model.replay(workers, size);
            boolean better = then.p99Nanos() <= now.p99Nanos() && then.failed() <= now.failed();
            if (better && then.p99Nanos() <= evidence.targetNanos()) {
                return setting.accepted().nearest(size) == size ? new Size(setting, size, then.p99Nanos()) : null;
            }
        }
        return null;
    }

    private ReplayModel model(ObservedPool pool, boolean withBacklog) {
        PoolSnapshot now = pool.now();
        int kind = Math.max(0, CallTrace.indexOf(now.kind()));
        boolean forWorkers = now.kind() == PoolKind.WORKERS;
        long limit = forWorkers || now.waitLimit().isNegative()
                ? -1
                : now.waitLimit().toNanos();
        return new ReplayModel(
                callsOfThisSize(pool), kind, forWorkers ? 0 : Math.max(0, pool.holdNanos()), limit, withBacklog);
    }

    /** Returns the calls that began after the pool became smaller. Earlier calls used a larger pool. */
    private List<CallTrace.Call> callsOfThisSize(ObservedPool pool) {
        PoolSizes.Reduced reduced = pool.reduced();
        return reduced == null
                ? evidence.trace()
                : evidence.trace().stream()
                        .filter(call -> call.startNanos() - reduced.atNanos() >= 0)
                        .toList();
    }

    private int workers() {
        return pools.stream()
                .map(ObservedPool::now)
                .filter(pool -> pool.kind() == PoolKind.WORKERS)
                .mapToInt(PoolSnapshot::max)
                .findFirst()
                .orElse(ReplayModel.UNLIMITED);
    }
}
