package tern.sample.consumer;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tern.rpc.load.Load;
import tern.rpc.load.Target;

/**
 * The load mode.
 *
 * @param rate calls a second; nothing is driven unless it is set, or {@code POST /load} asks for it
 * @param scenario which calls
 * @param duration of what is counted
 * @param warmUp before that; the rate rises during its first half
 * @param users threads that call
 * @param targetQps the rate if missing
 * @param targetLatency for the 99th percentile
 * @param keepRunning stay after the run, and leave the result at {@code /}
 * @param reportFile gets the progress and the table, instead of standard output
 * @param resultFile gets PASS or FAIL when the run has ended
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
