package tern.rpc.metrics;

import java.time.Duration;
import tern.rpc.Durations;

/**
 * The service level objective of a service.
 *
 * @param qps the number of calls per second to serve
 * @param latency the maximum response time at this rate
 */
public record Slo(int qps, Duration latency) {

    /** 500 calls per second, each answered within 100 ms. */
    public static final Slo DEFAULT = new Slo(500, Duration.ofMillis(100));

    public Slo {
        if (qps < 1) {
            throw new IllegalArgumentException("rpc.slo.qps is " + qps + "; expected 1 or more");
        }
        Durations.moreThanZero("rpc.slo.latency", latency);
    }
}
