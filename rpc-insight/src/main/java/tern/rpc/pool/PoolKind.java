package tern.rpc.pool;

/** What a pool hands out. */
public enum PoolKind {
    /** The threads that serve calls. */
    WORKERS,
    /** Threads of a named pool of the application. */
    EXECUTOR,
    JDBC,
    REDIS,
    HTTP,
    /** The ring of asynchronous logging. */
    LOGGING
}
