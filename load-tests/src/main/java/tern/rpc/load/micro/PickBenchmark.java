package tern.rpc.load.micro;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import tern.rpc.NanoClock;
import tern.rpc.cluster.Cluster;
import tern.rpc.cluster.ClusterParts;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.cluster.Policies;
import tern.rpc.cluster.Target;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.load.cluster.IdleConnection;

/**
 * Measures the cost of choosing a provider, without making the call. The time is a fixed value, so the cost of reading
 * the clock is not measured.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PickBenchmark {

    private static final int PORT = 20_880;
    private static final int PER_NETWORK = 250;
    private static final long KEY_STEP = 0x9E3779B97F4A7C15L;

    @Param({"3", "10", "100", "10000"})
    private int providers;

    @Param({"p2c", "round-robin", "consistent-hash"})
    private String policy = "";

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private Cluster cluster = cluster(1, Policies.P2C);
    private long now;
    private long key; // Only the consistent-hash policy uses the key of a call. Each call has a different key.

    private Cluster cluster(int size, String named) {
        ClusterParts parts = new ClusterParts(NanoClock.SYSTEM, timer, 1);
        Cluster made = parts.cluster(
                "a service",
                List.of(),
                "none",
                new StaticEndpoints(IntStream.range(0, size)
                        .mapToObj(i -> new Endpoint("10.0." + i / PER_NETWORK + "." + i % PER_NETWORK, PORT))
                        .toList()),
                parts.nodes(IdleConnection::new),
                ClusterSettings.DEFAULT.withSubset(0).withPolicy(Policies.named(named)));
        made.start(Duration.ZERO);
        made.targets().forEach(Target::connection);
        return made;
    }

    @Setup
    public void prepare() {
        cluster = cluster(providers, policy);
        now = System.nanoTime();
        // A call surveys the state of all providers if the last survey is at least a tenth of a second old. The
        // benchmark's clock does not advance, so this call performs the only survey.
        cluster.pick("get", 0, "", false, null, now);
    }

    @TearDown
    public void close() {
        cluster.close();
        timer.shutdownNow();
    }

    @Benchmark
    public Target pick() {
        key += KEY_STEP;
        return cluster.pick("get", key, "", false, null, now);
    }
}
