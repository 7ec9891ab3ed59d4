package tern.rpc.pool;

import java.time.Duration;

/**
 * Derives pool sizes and maximum waits from an application's target rate and latency. By Little's law, the number of
 * connections equals the number of concurrent calls at the target rate: calls per second × time of a call. More
 * connections than workers are useless, because a call uses one connection at a time.
 *
 * @param goal the application's target rate and latency
 * @param workers the maximum number of concurrent calls
 */
public record Sizing(Goal goal, int workers) {

    /**
     * The minimum number of connections in a pool. If there are fewer workers, the minimum is their number. A smaller
     * pool saves nothing and makes the first burst of calls wait.
     */
    private static final int MIN_CONNECTIONS = 8;

    private static final int MIN_PER_HOST = 64;
    private static final Duration MIN_WAIT = Duration.ofMillis(10);

    /** Returns the size of a pool for a database or Redis. */
    public int connections() {
        return Math.max(1, Math.min(workers, Math.max(MIN_CONNECTIONS, goal.callsAtOnce())));
    }

    /** Returns the maximum number of HTTP connections to one host. */
    public int connectionsPerHost() {
        return Math.max(MIN_PER_HOST, Math.min(workers, goal.callsAtOnce()));
    }

    /**
     * Returns the maximum number of HTTP connections to all hosts together. The number is large enough that calls to
     * one host do not wait for calls to another.
     */
    public int connectionsToAllHosts() {
        return Math.max(connectionsPerHost(), workers);
    }

    /**
     * Returns the maximum wait for a database connection: ten times the latency target, but at least 10 ms and at most
     * one second.
     */
    public Duration jdbcWait() {
        return wait(10, Duration.ofSeconds(1));
    }

    /**
     * Returns the maximum wait for a Redis connection: twice the latency target, but at least 10 ms and at most 200 ms.
     */
    public Duration redisWait() {
        return wait(2, Duration.ofMillis(200));
    }

    /**
     * Returns the maximum wait for an HTTP connection: ten times the latency target, but at least 10 ms and at most one
     * second.
     */
    public Duration httpWait() {
        return wait(10, Duration.ofSeconds(1));
    }

    private Duration wait(int targets, Duration most) {
        Duration derived = goal.latency().multipliedBy(targets);
        if (derived.compareTo(most) > 0) {
            return most;
        }
        return derived.compareTo(MIN_WAIT) < 0 ? MIN_WAIT : derived;
    }
}
