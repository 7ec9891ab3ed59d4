package tern.rpc.load;

import java.time.Duration;

/**
 * The target of a run. A run passes if it meets the target without errors.
 *
 * @param qps the minimum number of successful calls per second
 * @param latency the exclusive upper bound on the 99th percentile of the latency
 */
public record Target(double qps, Duration latency) {

    public Target {
        if (qps <= 0) {
            throw new IllegalArgumentException("target QPS is " + qps + "; expected more than 0");
        }
        if (latency.compareTo(Duration.ZERO) <= 0) {
            throw new IllegalArgumentException("target latency is " + latency + "; expected more than 0");
        }
    }
}
