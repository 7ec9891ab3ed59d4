package tern.rpc.cluster;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Outcome;
import tern.rpc.endpoint.Rules;
import tern.rpc.transport.IdleConnection;

/** A cluster with a simulated clock. The test controls its source and its connections. */
abstract class SimulatedCluster {

    static final long TICK = TimeUnit.MILLISECONDS.toNanos(1);
    static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    long now;
    final UsualTime usual = new UsualTime();
    final Timer timer = new Timer();
    final ClusterParts parts = new ClusterParts(() -> now, timer, 1);
    final Map<Endpoint, Peer> peers = new HashMap<>();
    final List<Endpoint> opened = new ArrayList<>();

    final Set<Endpoint> uncreatable = new HashSet<>(); // the endpoints that refuse connections

    final Nodes nodes = parts.nodes(endpoint -> {
        if (uncreatable.contains(endpoint)) {
            throw new IllegalStateException("no connection can be created");
        }
        opened.add(endpoint);
        return peers.computeIfAbsent(endpoint, Peer::new);
    });

    final Scripted source = new Scripted("shop");
    final Cluster cluster = cluster(source);

    @AfterEach
    void stop() {
        timer.shutdownNow();
    }

    Cluster cluster(EndpointSource of) {
        return parts.cluster("Orders", List.of(), "dubbo", of, nodes, ClusterSettings.DEFAULT);
    }

    /** A timer that runs its tasks when the test advances the clock. */
    final class Timer extends ScheduledThreadPoolExecutor {
        private record Task(long at, Runnable action) {}

        final List<Task> tasks = new ArrayList<>();
        int ran; // the number of tasks that have run

        Timer() {
            super(0);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable action, long delay, TimeUnit unit) {
            tasks.add(new Task(now + unit.toNanos(delay), action));
            return super.schedule((Callable<@Nullable Void>) () -> null, 1, TimeUnit.DAYS);
        }

        void move(long nanos) {
            long until = now + nanos;
            for (Task next = due(until); next != null; next = due(until)) {
                tasks.remove(next);
                now = Math.max(now, next.at());
                next.action().run();
                ran++;
            }
            now = until;
        }

        @Nullable
        Task due(long until) {
            Task first = null;
            for (Task task : tasks) {
                if (task.at() <= until && (first == null || task.at() < first.at())) {
                    first = task;
                }
            }
            return first;
        }
    }

    /** A source whose list is set by the test. */
    static final class Scripted implements EndpointSource {
        final String name;
        int starts;
        int closes;
        int refreshes;
        Consumer<EndpointSnapshot> listener = snapshot -> {};

        Scripted(String name) {
            this.name = name;
        }

        @Override
        public void start(Consumer<EndpointSnapshot> told) {
            starts++;
            listener = told;
        }

        void lists(Instance... instances) {
            listener.accept(EndpointSnapshot.heard(List.of(instances), Instant.EPOCH));
        }

        void lists(List<Instance> instances) {
            listener.accept(EndpointSnapshot.heard(instances, Instant.EPOCH));
        }

        @Override
        public void refresh() {
            refreshes++;
        }

        @Override
        public Object key() {
            return name;
        }

        @Override
        public String toString() {
            return name;
        }

        @Override
        public void close() {
            closes++;
        }
    }

    /** The connection to a provider. The test sets its state. */
    static final class Peer extends IdleConnection {
        boolean heard = true;
        String failure = "refused";
        int attempts;
        boolean open; // True if attempts to connect succeed.
        int probes;
        int streams;
        boolean closed;
        int times = 1; // how many times the connection has been opened

        Peer(Endpoint endpoint) {
            super(endpoint);
        }

        @Override
        public boolean wasHeard() {
            return heard;
        }

        @Override
        public long timesAvailable() {
            return times;
        }

        @Override
        public void connectSoon() {
            attempts++;
            available |= open;
        }

        @Override
        public long untilNextAttemptNanos() {
            return TimeUnit.SECONDS.toNanos(12);
        }

        @Override
        public void probe() {
            probes++;
        }

        @Override
        public int inFlight() {
            return streams;
        }

        @Override
        public String lastFailure() {
            return failure;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    static Instance instance(int number) {
        return Instance.of(new Endpoint("10.0." + number / 250 + "." + number % 250, 20880));
    }

    static Instance[] instances(int count) {
        return IntStream.range(0, count).mapToObj(SimulatedCluster::instance).toArray(Instance[]::new);
    }

    Peer peer(int number) {
        Endpoint endpoint = instance(number).endpoint();
        return peers.computeIfAbsent(endpoint, Peer::new);
    }

    Target pick() {
        return cluster.pick("get", 0, "", false, null, now);
    }

    List<Endpoint> listed() {
        return cluster.targets().stream().map(Target::endpoint).toList();
    }

    static long allocatedBytes(Runnable action) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        action.run();
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    void start(int providers) {
        cluster.start(Duration.ZERO);
        source.lists(instances(providers));
    }

    void call(Target target, Outcome outcome) {
        target.node().begin(now);
        target.node().end(outcome, TICK, now, usual);
    }

    /** Advances the clock in steps, and makes a call to any provider after each step. */
    void pass(long nanos) {
        for (long until = now + nanos; now < until; ) {
            timer.move(100 * TICK);
            pick();
        }
    }

    /** Traffic rules that are set by the test. */
    record Scripts(
            Map<Endpoint, String> tags, Map<Endpoint, Integer> weights, List<Endpoint> disabled, String forbiddenMethod)
            implements Rules {

        static final Scripts EMPTY = new Scripts(Map.of(), Map.of(), List.of(), "");

        @Override
        public @Nullable Attributes attributes(Instance provider) {
            Integer weight = weights.get(provider.endpoint());
            return disabled.contains(provider.endpoint())
                    ? null
                    : weight == null
                            ? provider.attributes()
                            : provider.attributes().withWeight(weight);
        }

        @Override
        public List<String> tags(Instance provider) {
            return List.of(
                    tags.getOrDefault(provider.endpoint(), provider.attributes().tag()));
        }

        @Override
        public boolean isByMethod() {
            return !forbiddenMethod.isEmpty();
        }

        @Override
        public List<Instance> route(String method, List<Instance> providers) {
            return isByMethod() && method.equals(forbiddenMethod) ? List.of() : providers;
        }

        @Override
        public @Nullable Duration timeout(String method) {
            return method.equals("get") ? Duration.ofMillis(100) : null;
        }

        @Override
        public String toString() {
            return "the scripts";
        }
    }
}
