package tern.rpc.load;

import java.time.Duration;

/**
 * The target that a run without errors has to reach.
 *
 * @param qps minimum of successful calls a second
 * @param latency upper bound of the 99th percentile, exclusive
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
