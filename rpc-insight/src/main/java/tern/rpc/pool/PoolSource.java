package tern.rpc.pool;

/** A pool that can be looked at. Thread-safe; called seldom, must not block. */
@FunctionalInterface
public interface PoolSource {

    PoolSnapshot snapshot();
}
