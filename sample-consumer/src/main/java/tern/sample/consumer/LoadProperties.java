package tern.sample.consumer;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tern.rpc.load.Load;
import tern.rpc.load.Target;

/**
 * Settings of the load.
 *
 * @param rate calls a second; without it a load starts only by {@code POST /load}
 * @param scenario the calls of the load
 * @param duration time of the measurement
 * @param warmUp time before the measurement; the rate rises during its first half
 * @param users threads that call
 * @param targetQps target of successful calls a second; by default the rate
 * @param targetLatency target of the 99th percentile
 * @param keepRunning whether the application stays after the run and shows the result at {@code /}
 * @param reportFile file for the progress and the table, instead of standard output
 * @param resultFile file for PASS or FAIL, written at the end of the run
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
