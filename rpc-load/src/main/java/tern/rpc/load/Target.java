package tern.rpc.load;

import java.time.Duration;

/**
 * What a run has to reach, with no errors.
 *
 * @param qps successful calls a second
 * @param latency more than the 99th percentile
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
