package tern.rpc.pool;

import java.time.Duration;

/**
 * What the application is meant to reach.
 *
 * @param qps calls per second that it is meant to serve; 1 or more
 * @param latency how long a call may take at that rate; more than 0
 */
public record Goal(int qps, Duration latency) {

    public Goal {
        if (qps < 1 || latency.isNegative() || latency.isZero()) {
            throw new IllegalArgumentException("a goal of " + qps + " calls/s within " + latency
                    + "; expected 1 call/s or more, and a time of more than 0");
        }
    }

    /** Calls that run at once when the goal is just reached, by Little's law. */
    public int callsAtOnce() {
        return (int) Math.min(Integer.MAX_VALUE, (long) Math.ceil(qps * seconds()));
    }

    public double seconds() {
        return latency.toNanos() / 1e9;
    }
}
