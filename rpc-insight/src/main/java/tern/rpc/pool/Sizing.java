package tern.rpc.pool;

import java.time.Duration;

/**
 * Sizes and waits of pools, derived from what the application is meant to reach. A pool need not be larger than the
 * number of calls that run at once at the target (Little's law: calls per second × time of a call), nor than the number
 * of workers, since one call uses one connection at a time. Nobody should wait much longer than a call may take.
 *
 * @param goal what is to be reached
 * @param workers calls that run at once at the most
 */
public record Sizing(Goal goal, int workers) {

    /** Below this a pool saves nothing, and the first burst waits. */
    private static final int MIN_CONNECTIONS = 8;

    private static final int MIN_PER_HOST = 64;
    private static final Duration MIN_WAIT = Duration.ofMillis(10);

    /** Of a database or Redis: as many as calls run at once at the target. */
    public int connections() {
        return Math.max(1, Math.min(workers, Math.max(MIN_CONNECTIONS, goal.callsAtOnce())));
    }

    /** To one host by HTTP: as many as calls run at once at the target, and not fewer than 64. */
    public int connectionsPerHost() {
        return Math.max(MIN_PER_HOST, Math.min(workers, goal.callsAtOnce()));
    }

    /** To all hosts together: no call waits because others talk to other hosts. */
    public int connectionsToAllHosts() {
        return Math.max(connectionsPerHost(), workers);
    }

    /** For a connection of a database: ten times the target, 1 s at the most. */
    public Duration jdbcWait() {
        return wait(10, Duration.ofSeconds(1));
    }

    /** For a connection to Redis: twice the target, 200 ms at the most. */
    public Duration redisWait() {
        return wait(2, Duration.ofMillis(200));
    }

    /** For a connection by HTTP: ten times the target, 1 s at the most. */
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
