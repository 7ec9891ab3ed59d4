package tern.rpc.diagnosis.text;

import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.pool.PoolSizes;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Recommends the former size of a pool that has become smaller while the application runs. */
final class FormerSize {

    private FormerSize() {}

    /**
     * Returns the advice to use the former size; null if the pool has not become smaller.
     *
     * @param needed the computed number of connections, threads or workers that the current calls need; if it exceeds
     *     the former size, the result is null
     * @param replayed the advice that a replay of the calls confirms; null if there is none
     */
    static @Nullable Change of(ObservedPool pool, double needed, @Nullable Change replayed) {
        PoolSizes.Reduced reduced = pool.reduced();
        if (reduced == null || needed > reduced.from()) {
            return null;
        }
        PoolSnapshot now = pool.now();
        String places = switch (now.kind()) {
            case WORKERS -> "workers";
            case EXECUTOR -> "threads";
            default -> "connections";
        };
        return Change.of(
                Where.PROPERTY,
                "give \"" + now.name() + "\" its former " + reduced.from() + " " + places + " again" + setting(now)
                        + ": it became smaller while the application was running"
                        + (replayed == null || replayed.property() == null
                                ? ""
                                : "; a replay of these calls needs at least " + replayed.to()));
    }

    /** Returns the property of the pool's size and its current value, in parentheses; empty if it is unknown. */
    static String setting(PoolSnapshot pool) {
        return pool.setting(use(pool))
                .map(found -> " (" + found.property() + ", now " + pool.effectiveMax() + ")")
                .orElse("");
    }

    /** Returns the setting that limits the number of connections or threads in use. */
    static PoolSetting.Use use(PoolSnapshot pool) {
        return pool.effectiveMax() < pool.max() ? PoolSetting.Use.MAX_PER_HOST : PoolSetting.Use.MAX;
    }
}
