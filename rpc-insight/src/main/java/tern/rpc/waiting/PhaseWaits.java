package tern.rpc.waiting;

import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;

/**
 * Finds the wait of a call by its ledger, for calls on virtual threads, whose stacks are in no dump, and for calls
 * without a thread.
 */
final class PhaseWaits {

    private PhaseWaits() {}

    /** @return null for a phase in which a call works itself */
    static @Nullable Wait of(Phase phase) {
        return switch (phase) {
            case QUEUE -> new Wait("worker", "rpc.server.threads");
            case DECODE, OWN -> null;
            case JDBC_CONNECTION ->
                new Wait(
                        "JDBC pool: get connection",
                        "spring.datasource.druid.max-active or spring.datasource.hikari.maximum-pool-size");
            case SQL -> new Wait("database: answer", "the statements: fewer, with an index, in batches");
            case REDIS_CONNECTION -> new Wait("Redis pool: get connection", "spring.data.redis.jedis.pool.max-active");
            case REDIS -> new Wait("Redis: answer", "fewer commands for each request (MGET, pipeline)");
            case HTTP_CONNECTION -> new Wait("HTTP pool: get connection", "rpc.pools.http.max-per-host");
            case HTTP -> new Wait("HTTP: answer", "the peer, or fewer calls for each request");
            case RPC ->
                new Wait("RPC: answer of another service", "rpc.client.timeout, or what that service waits for");
            case CALLER_RUNS ->
                new Wait("caller-runs: task of a full pool", "rpc.pools.executors.*.threads, then .queue-capacity");
            case LOGGING -> new Wait("log", "rpc.logging.async");
            case UNATTRIBUTED ->
                new Wait("result that other threads work on", "what completes the method's future, or those threads");
        };
    }
}
