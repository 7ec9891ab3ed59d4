package tern.rpc.pool;

import java.time.Duration;

/**
 * An application's target rate and target latency.
 *
 * @param qps the number of calls per second; at least 1
 * @param latency the target time of a call at that rate; greater than 0
 */
public record Goal(int qps, Duration latency) {

    public Goal {
        if (qps < 1 || latency.isNegative() || latency.isZero()) {
            throw new IllegalArgumentException("a goal of " + qps + " calls/s within " + latency
                    + "; expected 1 call/s or more, and a time of more than 0");
        }
    }

    /**
     * The number of concurrent calls if calls arrive at the target rate and each of them takes the target latency. By
     * Little's law, it is the product of both.
     */
    public int callsAtOnce() {
        return (int) Math.min(Integer.MAX_VALUE, (long) Math.ceil(qps * seconds()));
    }

    public double seconds() {
        return latency.toNanos() / 1e9;
    }
}
