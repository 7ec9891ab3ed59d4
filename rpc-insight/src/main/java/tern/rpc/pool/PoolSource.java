package tern.rpc.pool;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes snapshots of a pool. Thread-safe. Called rarely; must not block. */
@FunctionalInterface
public interface PoolSource {

    PoolSnapshot snapshot();

    /** Returns the holders of its connections; null if they are not recorded. */
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
