package tern.rpc.diagnosis;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * A pool during the miss.
 *
 * @param now its current state
 * @param since its counts and sums since the window began
 * @param holders who holds its connections; empty if this is not recorded
 * @param usualHoldNanos the usual time for which a connection is held; -1 if it is not known
 */
record PoolLook(PoolSnapshot now, PoolSnapshot since, List<Holder> holders, double usualHoldNanos) {

    /** The pool of a wait: by its name, else the first of that kind; null if there is none. */
    static @Nullable PoolLook find(List<PoolLook> pools, Part wait) {
        PoolLook ofKind = null;
        PoolKind kind = switch (wait.name()) {
            case "jedis" -> PoolKind.REDIS;
            case "http" -> PoolKind.HTTP;
            default -> PoolKind.JDBC;
        };
        for (PoolLook pool : pools) {
            if (pool.now().name().equals(wait.name())) {
                return pool;
            }
            if (ofKind == null && pool.now().kind() == kind) {
                ofKind = pool;
            }
        }
        return ofKind;
    }

    /** The mean time for which one was held; -1 if it is not known. */
    double holdNanos() {
        return since.held().isNegative() || since.taken() <= 0
                ? -1
                : (double) since.held().toNanos() / since.taken();
    }
}
