package tern.rpc.diagnosis.pool;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.pool.Holders;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * A pool's state while calls miss the latency target.
 *
 * @param now the current state of the pool
 * @param since the counts and sums from the observed period
 * @param holders the holders of the pool's connections; empty if holders are not recorded
 * @param lost the holders whose calls or threads have ended, which means that their connections are no longer used
 * @param recordsHolders whether holders are recorded; if so, an empty list means that nobody holds a connection
 * @param usualHoldNanos the usual time that a connection is held, in nanoseconds; -1 if unknown
 * @param use the activities of the holders while they hold connections; null if unknown
 * @param reduced the former size of the pool; null if the pool has not become smaller since the start
 */
public record ObservedPool(
        PoolSnapshot now,
        PoolSnapshot since,
        List<Holder> holders,
        Set<Holder> lost,
        boolean recordsHolders,
        double usualHoldNanos,
        @Nullable ConnectionUse use,
        PoolSizes.@Nullable Reduced reduced) {

    /**
     * Compares the states of a pool at the beginning and the end of the observed period.
     *
     * @param then the pool's state at the beginning of the observed period; null if the pool is new
     * @param holders null if holders are not recorded
     * @param working the calls that threads are working on. A thread may still be working on a call that has ended, for
     *     example because its deadline has passed
     */
    public static ObservedPool of(
            PoolSnapshot now,
            @Nullable PoolSnapshot then,
            @Nullable Holders holders,
            Set<CallLedger> working,
            double usualHoldNanos,
            @Nullable ConnectionUse use) {
        List<Holder> all = holders == null ? List.of() : holders.all();
        return new ObservedPool(
                now,
                then == null ? now : now.since(then),
                all,
                all.stream()
                        .filter(holder ->
                                holder.isAbandoned() && !holder.isExecuting() && !working.contains(holder.call()))
                        .collect(Collectors.toSet()),
                holders != null,
                usualHoldNanos,
                now.kind() == PoolKind.JDBC ? use : null,
                null);
    }

    /** Returns a copy with the former size of the pool, if the pool has become smaller. */
    public ObservedPool with(PoolSizes sizes) {
        return new ObservedPool(now, since, holders, lost, recordsHolders, usualHoldNanos, use, sizes.of(now.name()));
    }

    /**
     * Returns the pool that a call waited for. The pool has the same name as the wait. If the wait is named only after
     * a kind of pool, returns the pool of this kind that most threads wait for. Returns null if there is no such pool,
     * for example for a wait for a data source without a pool. Such a wait must not be attributed to another pool.
     */
    public static @Nullable ObservedPool find(List<ObservedPool> pools, Part wait) {
        ObservedPool ofKind = null;
        PoolKind kind = switch (wait.name()) {
            case "jdbc" -> PoolKind.JDBC;
            case "jedis" -> PoolKind.REDIS;
            case "http" -> PoolKind.HTTP;
            default -> null;
        };
        for (ObservedPool pool : pools) {
            if (pool.now().name().equals(wait.name())) {
                return pool;
            }
            boolean waitsMore =
                    ofKind == null || pool.now().waiting() > ofKind.now().waiting();
            if (waitsMore && kind != null && pool.now().kind() == kind) {
                ofKind = pool;
            }
        }
        return ofKind;
    }

    /** Returns how long a connection was in use on average, in nanoseconds; -1 if unknown. */
    public double holdNanos() {
        return since.held().isNegative() || since.taken() <= 0
                ? -1
                : (double) since.held().toNanos() / since.taken();
    }

    /** Returns the mean wait for a connection, in nanoseconds; -1 if unknown. */
    public double waitNanos() {
        return since.waited().isNegative() || since.taken() <= 0
                ? -1
                : (double) since.waited().toNanos() / since.taken();
    }
}
