package tern.rpc;

import java.util.Locale;

/** What a served call can be busy with, or wait for. */
public enum Phase {
    /** Waiting for a worker. */
    QUEUE,
    /** Reading the request's arguments. */
    DECODE,
    /** The service's own code: all that no other phase claims. */
    OWN,
    /** Waiting for a connection of a JDBC pool. */
    JDBC_CONNECTION,
    /** A statement, up to its result. */
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
    /** A task that a full pool made the caller run itself. */
    CALLER_RUNS,
    /** Handing a line to the logging system. */
    LOGGING,
    /** Waiting for a result that other threads, or nobody yet, work on. */
    UNATTRIBUTED;

    private final String key = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** Whether it is something that a call begins, any number of times, so that its beginnings are counted. */
    public boolean isOperation() {
        return switch (this) {
            case QUEUE, DECODE, OWN, UNATTRIBUTED -> false;
            default -> true;
        };
    }

    /** As in meters and log lines: {@code jdbc-connection}. */
    public String key() {
        return key;
    }
}
