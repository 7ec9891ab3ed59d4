package tern.rpc.load.cluster;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import tern.rpc.cluster.Cluster;
import tern.rpc.cluster.ClusterParts;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.cluster.Nodes;
import tern.rpc.cluster.Target;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;

/**
 * Measures the processor time and the allocated bytes per change of a long list of providers, and per replacement of an
 * unreachable member of the subset. The clock is simulated, and there are no sockets.
 */
final class ListChanges {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long BETWEEN_CALLS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int PORT = 20_880;
    private static final int PER_NETWORK = 250;
    private static final int SOME_DEAD = 50;
    private static final int REVIEWED_SECONDS = 60;

    private final List<Instance> all = new ArrayList<>();
    private final int rounds;

    private ListChanges(int providers, int rounds) {
        this.rounds = rounds;
        for (int i = 0; i < providers; i++) {
            all.add(Instance.of(new Endpoint(
                    "10." + i / 62_500 + "." + i / PER_NETWORK % PER_NETWORK + "." + i % PER_NETWORK, PORT)));
        }
    }

    /**
     * @param arguments {@code --providers=} the length of the list; {@code --rounds=} the number of changes;
     *     {@code --references=} the number of references whose timer tasks are counted
     */
    public static void main(String[] arguments) {
        Options options = new Options(arguments);
        ListChanges changes = new ListChanges(options.number("providers", 10_000), options.number("rounds", 400));
        changes.changesOfTheList();
        changes.changesWhileMembersAreReplaced();
        changes.deadList();
        reviews(options.number("references", 20_000));
        System.exit(0); // The simulated timers have threads, so the process must be ended explicitly.
    }

    private void changesOfTheList() {
        Client client = new Client();
        client.lists(all);
        client.pass(5 * SECOND);
        measure("an equal list", client, round -> all);
        measure("one provider leaves or returns", client, this::oneLess);
        measure("one weight changes", client, this::oneHeavier);
        client.close();
    }

    private void changesWhileMembersAreReplaced() {
        Client client = new Client();
        client.lists(all);
        client.pass(5 * SECOND);
        client.cluster.targets().stream().limit(SOME_DEAD).forEach(target -> client.kill(target.endpoint()));
        client.pass(40 * SECOND);
        measure("one provider leaves or returns while " + client.passedOver() + " are replaced", client, this::oneLess);
        Cost cost = new Cost();
        int replaced = client.passedOver();
        for (int i = 0; i < rounds; i++) {
            Target last =
                    client.cluster.targets().get(i % client.cluster.targets().size());
            client.kill(last.endpoint());
            client.pass(29 * SECOND);
            cost.of(() -> client.timer.move(3 * SECOND));
        }
        cost.print("one member is replaced, " + replaced + " to " + client.passedOver() + " are already", 1);
        client.close();
    }

    private void deadList() {
        for (int run = 0; run < 2; run++) { // The first run is a warm-up, which loads and compiles the classes.
            Client client = new Client();
            all.forEach(each -> client.kill(each.endpoint()));
            client.lists(all);
            Cost cost = new Cost();
            int before = client.opened;
            cost.of(() -> client.pass(100 * SECOND));
            cost.print("no provider can be reached: per provider that is tried", client.opened - before);
            client.close();
        }
    }

    private static void reviews(int references) {
        Client client = new Client();
        client.cluster.close();
        List<Instance> few = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            few.add(Instance.of(new Endpoint("10.1.1." + i, PORT)));
        }
        List<Cluster> clusters = new ArrayList<>();
        for (int i = 0; i < references; i++) {
            Source source = new Source("application-" + i / 20);
            Cluster made = client.cluster("Service" + i, source);
            made.start(Duration.ZERO);
            source.listener.accept(EndpointSnapshot.heard(few, Instant.EPOCH));
            clusters.add(made);
        }
        client.timer.move(60 * SECOND);
        Cost cost = new Cost();
        int[] ran = {0};
        for (int i = 0; i < 5; i++) {
            cost.of(() -> ran[0] = client.timer.move(REVIEWED_SECONDS * SECOND));
        }
        cost.print(
                String.format(
                        Locale.ROOT,
                        "%,d idle references, all connected: %,d tasks of the timer a minute; per minute",
                        references,
                        ran[0]),
                1);
        clusters.forEach(Cluster::close);
    }

    private List<Instance> oneLess(int round) {
        if (round % 2 == 1) {
            return all;
        }
        List<Instance> less = new ArrayList<>(all);
        less.remove(position(round));
        return less;
    }

    private List<Instance> oneHeavier(int round) {
        List<Instance> changed = new ArrayList<>(all);
        changed.set(
                position(round),
                new Instance(
                        all.get(position(round)).endpoint(),
                        all.get(0).attributes().withWeight(50 + round % 50)));
        return changed;
    }

    private int position(int round) {
        return (int) (round * 7_919L % all.size());
    }

    private void measure(String name, Client client, IntFunction<List<Instance>> lists) {
        Cost cost = new Cost();
        for (int i = 0; i < rounds; i++) {
            EndpointSnapshot changed = EndpointSnapshot.heard(lists.apply(i), Instant.EPOCH);
            cost.of(() -> client.source.listener.accept(changed));
            client.pass(2 * SECOND);
        }
        cost.print(name, 1);
    }

    /** Processor time and allocated bytes of repeated actions. */
    private static final class Cost {
        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        private final List<Long> nanos = new ArrayList<>();
        private final List<Long> bytes = new ArrayList<>();

        void of(Runnable action) {
            long allocated = threads.getCurrentThreadAllocatedBytes();
            long processor = threads.getCurrentThreadCpuTime();
            action.run();
            nanos.add(threads.getCurrentThreadCpuTime() - processor);
            bytes.add(threads.getCurrentThreadAllocatedBytes() - allocated);
        }

        void print(String name, int per) {
            System.out.printf(
                    Locale.ROOT,
                    "%s: first %.3f ms, median of the later half %.4f ms of processor time, %,.1f kB allocated%n",
                    name,
                    nanos.get(0) / NANOS_PER_MILLI / per,
                    medianOfTheLaterHalf(nanos) / NANOS_PER_MILLI / per,
                    medianOfTheLaterHalf(bytes) / 1e3 / per);
        }

        private static double medianOfTheLaterHalf(List<Long> values) {
            long[] later = values.stream()
                    .skip(values.size() / 2)
                    .mapToLong(Long::longValue)
                    .toArray();
            Arrays.sort(later);
            return later[later.length / 2];
        }
    }

    /** A source of providers. The benchmark sets its list. */
    private static final class Source implements EndpointSource {
        private final String name;
        private Consumer<EndpointSnapshot> listener = snapshot -> {};

        Source(String name) {
            this.name = name;
        }

        @Override
        public void start(Consumer<EndpointSnapshot> newListener) {
            listener = newListener;
        }

        @Override
        public Object key() {
            return name;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** A client with one reference. */
    private static final class Client {
        private final SimulatedTimer timer = new SimulatedTimer();
        private final ClusterParts parts = new ClusterParts(timer, timer, 1);
        private final Map<Endpoint, IdleConnection> peers = new HashMap<>();
        private final Source source = new Source("shop");
        private int opened;
        private final Nodes nodes = parts.nodes(endpoint -> {
            opened++;
            return peers.computeIfAbsent(endpoint, IdleConnection::new);
        });
        private final Cluster cluster = cluster("Orders", source);

        Client() {
            cluster.start(Duration.ZERO);
        }

        Cluster cluster(String service, EndpointSource of) {
            return parts.cluster(service, List.of(), "dubbo", of, nodes, ClusterSettings.DEFAULT);
        }

        void lists(List<Instance> instances) {
            source.listener.accept(EndpointSnapshot.heard(instances, Instant.EPOCH));
        }

        void kill(Endpoint endpoint) {
            peers.computeIfAbsent(endpoint, IdleConnection::new).setAvailable(false);
        }

        int passedOver() {
            return cluster.report(timer.nanoTime()).passedOver();
        }

        /** Advances the clock in steps, and makes a call after each step. */
        void pass(long nanos) {
            for (long until = timer.nanoTime() + nanos; timer.nanoTime() < until; ) {
                timer.move(BETWEEN_CALLS);
                cluster.pick("get", 0, "", false, null, timer.nanoTime());
            }
        }

        void close() {
            cluster.close();
            timer.shutdownNow();
        }
    }
}
