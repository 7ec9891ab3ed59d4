package tern.rpc.pool;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A pool that can be looked at. Thread-safe; called seldom, must not block. */
@FunctionalInterface
public interface PoolSource {

    PoolSnapshot snapshot();

    /** Who holds its connections; null if this is not recorded. */
    default @Nullable Holders holders() {
        return null;
    }

    /** @param snapshots creates the snapshot */
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
