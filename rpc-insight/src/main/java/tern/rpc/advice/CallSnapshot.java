package tern.rpc.advice;

import java.time.Duration;
import java.util.Map;
import tern.rpc.Phase;
import tern.rpc.pool.PoolSetting;

/**
 * The calls of one method in the last while.
 *
 * @param service key of the service, as {@link tern.rpc.ServiceKey#toString()} writes it
 * @param method name of the method
 * @param qps calls per second
 * @param mean time of a call
 * @param p99 time that one call in a hundred exceeds
 * @param limits how long a call may take, and how often it is tried
 * @param timeouts calls per second that ran out of time
 * @param retries attempts per second beyond the first
 * @param phases what an average call did; empty when no ledger is kept
 */
public record CallSnapshot(
        String service,
        String method,
        double qps,
        Duration mean,
        Duration p99,
        Limits limits,
        double timeouts,
        double retries,
        Map<Phase, Use> phases) {

    /**
     * How long a call may take, all attempts together.
     *
     * @param timeout zero when nothing bounds it, or nobody knows
     * @param attempts the first included
     * @param property that sets the timeout
     * @param source where its value comes from
     */
    public record Limits(Duration timeout, int attempts, String property, PoolSetting.Source source) {

        /** Of calls whose callers decide. */
        public static final Limits NONE = new Limits(Duration.ZERO, 1, "", PoolSetting.Source.LIBRARY);
    }

    /** @param operations of this kind per call; {@code time} is that of all of them together */
    public record Use(double operations, Duration time) {

        static final Use NOTHING = new Use(0, Duration.ZERO);
    }

    public CallSnapshot {
        phases = Map.copyOf(phases);
    }

    Use use(Phase phase) {
        return phases.getOrDefault(phase, Use.NOTHING);
    }

    String name() {
        return service + "/" + method;
    }
}
