package tern.sample.consumer;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tern.rpc.load.Load;
import tern.rpc.load.Target;

/**
 * The settings of the load.
 *
 * @param rate the number of calls per second; if it is not set, a load starts only through {@code POST /load}
 * @param scenario the kinds of calls that the load makes
 * @param duration the duration of the measurement
 * @param warmUp the time before the measurement; the rate rises during its first half
 * @param users the number of threads that make calls
 * @param targetQps the target number of successful calls per second; by default equal to the rate
 * @param targetLatency the target for the 99th percentile of the latency
 * @param keepRunning whether the application keeps running after the load and shows the result at {@code /}
 * @param reportFile the file for the progress and the table, instead of standard output
 * @param resultFile the file to which PASS or FAIL is written at the end of the run
 */
@ConfigurationProperties("load")
record LoadProperties(
        @Nullable Double rate,
        @DefaultValue("mix") SampleScenario.Kind scenario,
        @DefaultValue("30s") Duration duration,
        @DefaultValue("10s") Duration warmUp,
        @DefaultValue("200") int users,
        @Nullable Double targetQps,
        @DefaultValue("100ms") Duration targetLatency,
        @DefaultValue("false") boolean keepRunning,
        @Nullable Path reportFile,
        @Nullable Path resultFile) {

    @Nullable
    Load load() {
        return rate == null ? null : load(rate);
    }

    Load load(double callsPerSecond) {
        return new Load(callsPerSecond, warmUp, duration, users);
    }

    Target target(Load load) {
        return new Target(targetQps == null ? load.rate() : targetQps, targetLatency);
    }
}
