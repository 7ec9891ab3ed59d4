package tern.rpc;

import java.util.Locale;

/** The phases of a served call. A phase is a kind of work or a kind of wait. */
public enum Phase {
    /** Waiting for a worker thread. */
    QUEUE,
    /** Decoding the request's arguments. */
    DECODE,
    /** Running the service's own code: all time that belongs to no other phase. */
    OWN,
    /** Waiting for a connection from a JDBC pool. */
    JDBC_CONNECTION,
    /** Executing an SQL statement, until its result arrives. */
    SQL,
    /** Waiting for a connection from a Redis pool. */
    REDIS_CONNECTION,
    /** Executing a Redis command, until its result arrives. */
    REDIS,
    /** Waiting for a connection from an HTTP client's pool. */
    HTTP_CONNECTION,
    /** An HTTP exchange, until the end of the response. */
    HTTP,
    /** Waiting for another service's answer. */
    RPC,
    /** Waiting until an executor thread starts one of the call's tasks. */
    EXECUTOR,
    /** Running a task on the submitting thread, because the executor is full (caller-runs). */
    CALLER_RUNS,
    /** Passing an event to the logging system. */
    LOGGING,
    /** Waiting for a result from another thread. */
    UNATTRIBUTED;

    private final String key = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /**
     * Returns whether the phase is an operation. A call can start several operations of the same kind. The ledger
     * counts them.
     */
    public boolean isOperation() {
        return switch (this) {
            case QUEUE, DECODE, OWN, UNATTRIBUTED -> false;
            default -> true;
        };
    }

    /** Returns the name of the phase in meters and log lines, such as {@code jdbc-connection}. */
    public String key() {
        return key;
    }
}
