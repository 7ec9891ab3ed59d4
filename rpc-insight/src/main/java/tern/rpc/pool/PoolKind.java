package tern.rpc.pool;

/** The kind of resource in a pool. */
public enum PoolKind {
    /** The threads that serve calls. */
    WORKERS,
    /** The threads of one of the application's executors. */
    EXECUTOR,
    JDBC,
    REDIS,
    HTTP,
    /** The ring buffer of asynchronous logging. */
    LOGGING
}
