package tern.rpc.pool;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes snapshots of a pool. Snapshots are taken rarely. Taking a snapshot must not block. Thread-safe. */
@FunctionalInterface
public interface PoolSource {

    PoolSnapshot snapshot();

    /** Returns the calls and threads that hold the pool's connections; null if they are not recorded. */
    default @Nullable Holders holders() {
        return null;
    }

    /**
     * Returns a source that also provides the holders.
     *
     * @param snapshots creates a snapshot on each call
     */
    static PoolSource of(Supplier<PoolSnapshot> snapshots, Holders holders) {
        return new PoolSource() {
            @Override
            public PoolSnapshot snapshot() {
                return snapshots.get();
            }

            @Override
            public Holders holders() {
                return holders;
            }
        };
    }
}
