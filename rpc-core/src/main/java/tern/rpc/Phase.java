package tern.rpc;

import java.util.Locale;

/** The phases of a served call. They cover its work and its waits. */
public enum Phase {
    /** Waiting for a worker. */
    QUEUE,
    /** Decoding the request's arguments. */
    DECODE,
    /** The service's own code: all time that no other phase counts. */
    OWN,
    /** Waiting for a connection of a JDBC pool. */
    JDBC_CONNECTION,
    /** An SQL statement, up to its result. */
    SQL,
    /** Waiting for a connection of a Redis pool. */
    REDIS_CONNECTION,
    /** A Redis command, up to its result. */
    REDIS,
    /** Waiting for a connection of an HTTP client's pool. */
    HTTP_CONNECTION,
    /** An HTTP exchange, up to the end of its answer. */
    HTTP,
    /** A call to another service. */
    RPC,
    /** Waiting for a thread of an executor that runs a part of the call. */
    EXECUTOR,
    /** A task of a full pool that the caller must run itself (caller-runs). */
    CALLER_RUNS,
    /** Passing a line to the logging system. */
    LOGGING,
    /** Waiting for a result of another thread. */
    UNATTRIBUTED;

    private final String key = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /**
     * Whether the phase is an operation. A call may start several operations of a kind, and their starts are counted.
     */
    public boolean isOperation() {
        return switch (this) {
            case QUEUE, DECODE, OWN, UNATTRIBUTED -> false;
            default -> true;
        };
    }

    /** The name in meters and log lines: {@code jdbc-connection}. */
    public String key() {
        return key;
    }
}
