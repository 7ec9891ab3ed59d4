package tern.rpc.diagnosis.pool;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.pool.PoolSnapshot;

/**
 * Remembers how the sizes of pools have changed since the start of the process. Not thread-safe: only the diagnosis
 * thread uses it.
 */
public final class PoolSizes {

    private final Map<String, Integer> sizes = new HashMap<>();
    private final Map<String, Reduced> reduced = new HashMap<>();

    /**
     * A pool that allows fewer connections or threads than before.
     *
     * @param from the maximum number of connections or threads before the pool became smaller, possibly in several
     *     steps
     * @param atNanos the time of the last step
     */
    public record Reduced(int from, long atNanos) {}

    /**
     * Records the maximum size of the pool, and whether it has become smaller since the previous call of this method.
     */
    public void look(PoolSnapshot pool, long now) {
        int size = pool.effectiveMax();
        Integer before = sizes.put(pool.name(), size);
        if (before == null || before == size) {
            return;
        }
        Reduced earlier = reduced.remove(pool.name());
        int from = earlier == null ? before : earlier.from;
        if (size > 0 && size < from) {
            reduced.put(pool.name(), new Reduced(from, now));
        }
    }

    /** Returns the former size of the pool; null if the pool has not become smaller. */
    @Nullable
    Reduced of(String pool) {
        return reduced.get(pool);
    }
}
