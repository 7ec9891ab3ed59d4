package tern.rpc.diagnosis;

import java.util.List;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.PoolSnapshot;

/**
 * A pool during the miss.
 *
 * @param now its present state
 * @param since its counts and sums since the window began
 * @param holders who holds its connections; empty if this is not recorded
 * @param usualHoldNanos the usual time for which a connection is held; -1 if it is not known
 */
record PoolLook(PoolSnapshot now, PoolSnapshot since, List<Holder> holders, double usualHoldNanos) {

    /** The mean time for which one was held; -1 if it is not known. */
    double holdNanos() {
        return since.held().isNegative() || since.taken() <= 0
                ? -1
                : (double) since.held().toNanos() / since.taken();
    }
}
