package tern.rpc.pool;

/** The kind of resource in a pool. */
public enum PoolKind {
    /** The threads that serve calls. */
    WORKERS,
    /** Threads of a named pool of the application. */
    EXECUTOR,
    JDBC,
    REDIS,
    HTTP,
    /** The ring buffer of asynchronous logging. */
    LOGGING
}
