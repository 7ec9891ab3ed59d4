package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Outcome;
import tern.rpc.endpoint.Rules;
import tern.rpc.transport.IdleConnection;

/** Tests a cluster with a simulated clock. The test controls the cluster's source and connections. */
class ClusterTest {

    private static final long TICK = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private long now;
    private final UsualTime usual = new UsualTime();
    private final Timer timer = new Timer();
    private final ClusterParts parts = new ClusterParts(() -> now, timer, 1);
    private final Map<Endpoint, Peer> peers = new HashMap<>();
    private final List<Endpoint> opened = new ArrayList<>();
    private final Nodes nodes = parts.nodes(endpoint -> {
        opened.add(endpoint);
        return peers.computeIfAbsent(endpoint, Peer::new);
    });
    private final Scripted source = new Scripted("shop");
    private final Cluster cluster = cluster(source);

    @AfterEach
    void stop() {
        timer.shutdownNow();
    }

    private Cluster cluster(EndpointSource of) {
        return parts.cluster("Orders", "dubbo", of, nodes, ClusterSettings.DEFAULT);
    }

    /** A timer that runs its tasks when the test advances the clock. */
    private final class Timer extends ScheduledThreadPoolExecutor {
        private record Task(long at, Runnable action) {}

        private final List<Task> tasks = new ArrayList<>();

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
            }
            now = until;
        }

        private @Nullable Task due(long until) {
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
    private static final class Scripted implements EndpointSource {
        private final String name;
        private int starts;
        private int closes;
        private int refreshes;
        private Consumer<EndpointSnapshot> listener = snapshot -> {};

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
    private static final class Peer extends IdleConnection {
        private boolean heard = true;
        private int attempts;
        private boolean open; // True if attempts to connect succeed.
        private int probes;
        private boolean closed;

        Peer(Endpoint endpoint) {
            super(endpoint);
        }

        @Override
        public boolean wasHeard() {
            return heard;
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
        public String lastFailure() {
            return "refused";
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private static Instance instance(int number) {
        return Instance.of(new Endpoint("10.0." + number / 250 + "." + number % 250, 20880));
    }

    private static Instance[] instances(int count) {
        return IntStream.range(0, count).mapToObj(ClusterTest::instance).toArray(Instance[]::new);
    }

    private Peer peer(int number) {
        Endpoint endpoint = instance(number).endpoint();
        return peers.computeIfAbsent(endpoint, Peer::new);
    }

    private Target pick() {
        return cluster.pick("get", 0, "", false, null, now);
    }

    private List<Endpoint> listed() {
        return cluster.targets().stream().map(Target::endpoint).toList();
    }

    private void start(int providers) {
        cluster.start(Duration.ZERO);
        source.lists(instances(providers));
    }

    @Test
    void referencesThatAskForTheSameShareOneSource() {
        Scripted same = new Scripted("shop");
        Cluster other = cluster(same);
        start(2);
        other.start(Duration.ZERO);

        assertThat(source.starts + same.starts).isEqualTo(1);
        assertThat(other.targets()).hasSize(2);
        cluster.close();
        assertThat(source.closes).isZero();
        other.close();
        assertThat(source.closes).isEqualTo(1);
    }

    @Test
    void changedAttributesKeepTheConnection() {
        start(2);
        Target before = cluster.targets().get(0);

        source.lists(
                new Instance(
                        instance(0).endpoint(), Attributes.DEFAULT.withWeight(7).withZone("z")),
                instance(1));
        timer.move(100 * TICK);

        assertThat(cluster.targets().get(0)).isSameAs(before);
        assertThat(before.attributes().weight()).isEqualTo(7);
        assertThat(opened).hasSize(2);
    }

    @Test
    void thousandEqualListsChangeNothing() {
        start(10);
        List<Target> before = cluster.targets();

        for (int i = 0; i < 1_000; i++) {
            source.lists(instances(10));
        }
        timer.move(10_000 * TICK);

        assertThat(cluster.targets()).isSameAs(before);
        assertThat(opened).hasSize(10);
    }

    @Test
    void flappingProviderIsConnectedOnce() {
        start(3);
        for (int i = 0; i < 100; i++) {
            source.lists(instances(i % 2 == 0 ? 2 : 3));
            timer.move(100 * TICK);
        }

        assertThat(opened).hasSize(3);
        assertThat(peer(2).closed).isFalse();
    }

    @Test
    void connectionIsClosedThirtySecondsAfterItsProviderWasRemoved() {
        start(3);
        source.lists(instances(2));
        timer.move(29_000 * TICK);
        assertThat(listed()).hasSize(2);
        assertThat(peer(2).closed).isFalse();

        timer.move(2_000 * TICK);
        assertThat(peer(2).closed).isTrue();
    }

    @Test
    void connectionsAreOpenedAtALimitedRate() {
        cluster.start(Duration.ZERO);
        source.lists(instances(90));

        assertThat(opened).hasSize(20);
        timer.move(1_000 * TICK);
        assertThat(opened.size()).isBetween(68, 72);
        timer.move(1_000 * TICK);
        assertThat(opened).hasSize(90);
    }

    @Test
    void atMostOneHundredOfTenThousandProvidersAreConnectedTo() {
        cluster.start(Duration.ZERO);
        source.lists(instances(10_000));
        timer.move(10_000 * TICK);

        assertThat(cluster.targets()).hasSize(100);
        assertThat(opened).hasSize(100);
        assertThat(cluster.report(now).listed()).isEqualTo(10_000);
    }

    private static long allocatedBytes(Runnable action) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        action.run();
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    /** The test uses the allocated bytes as an upper bound on the memory that the provider list retains. */
    @Test
    void tenThousandProvidersTakeAtMost250BytesEach() {
        cluster.start(Duration.ZERO);
        source.lists(instances(200)); // the first list loads classes and opens connections
        timer.move(10 * SECOND);

        long bytes = allocatedBytes(() -> {
            Instance[] entries = new Instance[10_000];
            for (int i = 0; i < entries.length; i++) {
                entries[i] = instance(i);
            }
            source.lists(entries);
        });

        assertThat(bytes / 10_000).isLessThanOrEqualTo(250);
        assertThat(cluster.report(now).listed()).isEqualTo(10_000);
    }

    @Test
    void changeOfOneInTenThousandProvidersAllocatesLittle() {
        cluster.start(Duration.ZERO);
        List<Instance> all = List.of(instances(10_000));
        List<Instance> fewer = all.subList(0, 9_999);
        for (int i = 0; i < 50; i++) { // loads the classes
            source.lists(i % 2 == 0 ? all : fewer);
            timer.move(10 * SECOND);
        }
        List<Target> before = cluster.targets();
        EndpointSnapshot changed = EndpointSnapshot.heard(all, Instant.EPOCH);

        long ofChange = allocatedBytes(() -> source.listener.accept(changed));
        long ofRepeat = allocatedBytes(() -> source.listener.accept(changed));

        assertThat(cluster.report(now).listed()).isEqualTo(10_000);
        assertThat(ofChange).isLessThanOrEqualTo(64 * 1024);
        assertThat(ofRepeat).isLessThanOrEqualTo(1024);
        assertThat(cluster.targets()).containsAll(before.subList(0, 99));
    }

    @Test
    void providersOfAnEmptyListStayWhileTheyAnswer() {
        start(3);
        source.lists();
        timer.move(3_600_000 * TICK);
        assertThat(listed()).hasSize(3);
        assertThat(cluster.report(now).held()).isEqualTo(3);
        assertThat(cluster.targets()).allMatch(Target::isHeld);

        peer(0).available = false;
        peer(1).available = false;
        peer(2).available = false;
        timer.move(5_000 * TICK);
        assertThatThrownBy(this::pick)
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("no address of Orders is known; looked at shop, whose list is empty since")
                .hasMessageContaining("are all gone");
        assertThat(source.refreshes).isEqualTo(1);
    }

    @Test
    void reportSaysWhichChangeIsHeldBackSinceWhen() {
        start(3);
        assertThat(cluster.report(now).heldWhy()).isEmpty();
        source.lists();
        timer.move(7_000 * TICK);

        ClusterReport report = cluster.report(now);
        assertThat(report.state()).isEqualTo(EndpointSnapshot.State.EMPTY);
        assertThat(report.held()).isEqualTo(3);
        assertThat(report.heldWhy()).isEqualTo("the list is empty");
        assertThat(report.heldFor()).isBetween(Duration.ofSeconds(6), Duration.ofSeconds(7));
    }

    @Test
    void reportSaysWhyAListIsStale() {
        start(2);
        source.listener.accept(
                EndpointSnapshot.stale(List.of(instances(2)), Instant.EPOCH, "10.0.0.9:2181 does not answer"));
        timer.move(100 * TICK);

        ClusterReport report = cluster.report(now);
        assertThat(report.state()).isEqualTo(EndpointSnapshot.State.STALE);
        assertThat(report.why()).isEqualTo("10.0.0.9:2181 does not answer");
        assertThat(report.listed()).isEqualTo(2);
    }

    @Test
    void reportHasTheStateOfEachProvider() {
        peer(1).available = false;
        peer(2).heard = false;
        start(4);
        pick(); // This first pick marks the nodes as connected.
        Node failing = cluster.targets().get(3).node();
        for (int i = 0; i < 5; i++) {
            failing.begin(now);
            failing.end(Outcome.FAILED, TICK, now, new UsualTime());
        }
        for (int i = 0; i < 300; i++) {
            pick().retries().called();
        }

        List<ClusterReport.Provider> providers = cluster.report(now).providers();
        assertThat(providers)
                .extracting(ClusterReport.Provider::link)
                .containsExactly(
                        ClusterReport.Link.CONNECTED,
                        ClusterReport.Link.UNREACHABLE,
                        ClusterReport.Link.CONNECTED,
                        ClusterReport.Link.CONNECTED);
        assertThat(providers).extracting(ClusterReport.Provider::heard).containsExactly(true, false, false, true);
        assertThat(providers)
                .extracting(ClusterReport.Provider::shareOfLastMinute)
                .containsExactly(1.0, 0.0, 0.0, 0.0);
        assertThat(providers.get(1).lastFailure()).isEqualTo("refused");
        assertThat(providers.get(1).nextAttempt()).isEqualTo(Duration.ofSeconds(12));
        assertThat(providers.get(3).ejectedFor()).isEqualTo(Duration.ofSeconds(10));
        assertThat(providers.get(3).ejectedWhy()).isEqualTo("5 failures in a row");
        assertThat(providers.get(3).score()).isGreaterThan(providers.get(0).score());
    }

    @Test
    void providersMissingFromAHalvedListAreTriedLast() {
        start(5);
        source.lists(instances(2));
        timer.move(200 * TICK);

        assertThat(listed()).hasSize(5);
        assertThat(IntStream.range(0, 500).mapToObj(i -> pick())).noneMatch(Target::isHeld);
        peer(0).available = false;
        peer(1).available = false;
        assertThat(pick().isHeld()).isTrue();
        timer.move(31_000 * TICK);
        assertThat(listed()).hasSize(2);
    }

    @Test
    void failureSaysThatTheSourceWasNeverHeard() {
        cluster.start(Duration.ZERO);
        source.listener.accept(EndpointSnapshot.unknown(Instant.EPOCH, "10.0.0.9:2181 does not answer"));

        assertThatThrownBy(this::pick)
                .hasMessageContaining("looked at shop, which was never heard since 1970-01-01T00:00:00Z: 10.0.0.9:2181"
                        + " does not answer; look whether it can be reached");
    }

    @Test
    void failureSaysThatTheSourceIsOutOfReachAndItsLastListIsEmpty() {
        cluster.start(Duration.ZERO);
        source.listener.accept(EndpointSnapshot.stale(List.of(), Instant.EPOCH, "10.0.0.9:2181 does not answer"));

        assertThatThrownBy(this::pick)
                .hasMessageContaining("looked at shop, which is out of reach since 1970-01-01T00:00:00Z: 10.0.0.9:2181"
                        + " does not answer; look whether it can be reached");
    }

    @Test
    void failureSaysThatAllAddressesAreOfOtherProtocols() {
        cluster.start(Duration.ZERO);
        source.lists(Instance.of(new Endpoint("10.0.0.1", 1, "10.0.0.1", "tri")));

        assertThatThrownBy(this::pick)
                .hasMessageContaining(
                        "looked at shop, whose 1 addresses are all of other protocols (tri://10.0.0.1:1) since"
                                + " 1970-01-01T00:00:00Z; look at the protocol of the reference");
    }

    @Test
    void failureSaysWhyAndSinceWhenAllProvidersAreAvoided() {
        start(2);
        pass(SECOND);
        assertThat(cluster.whyAvoided(now)).isEmpty();
        cluster.targets().forEach(target -> IntStream.range(0, 5).forEach(i -> call(target, Outcome.FAILED)));
        now += 3 * SECOND;

        assertThat(cluster.whyAvoided(now))
                .isEqualTo(
                        "; all 2 providers failed lately: 10.0.0.0:20880 (5 failures in a row, avoided for 3.0 s, and"
                                + " for 7.0 s more), 10.0.0.1:20880 (5 failures in a row, avoided for 3.0 s, and for 7.0 s"
                                + " more); look at their logs");
    }

    @Test
    void failureSaysSinceWhenAllProvidersAreAboutToStop() {
        start(2);
        Attributes draining = Attributes.DEFAULT.withDraining(true);
        source.lists(new Instance(instance(0).endpoint(), draining), instance(1));
        timer.move(10 * SECOND);
        assertThat(cluster.whyAvoided(now)).isEmpty();
        source.lists(
                new Instance(instance(0).endpoint(), draining),
                new Instance(instance(1).endpoint(), draining));
        timer.move(20 * SECOND);

        assertThat(cluster.whyAvoided(now))
                .isEqualTo("; all 2 providers are about to stop and ask for no new calls, the first one for 30 s:"
                        + " 10.0.0.0:20880, 10.0.0.1:20880; look whether new ones were started");
    }

    @Test
    void failureSaysThatNoProviderHasTheTag() {
        cluster.start(Duration.ZERO);
        source.lists(instances(2));

        assertThatThrownBy(() -> cluster.pick("get", 0, "gray", true, null, now))
                .hasMessageContaining(
                        "no provider of Orders may take the call: 2 are known, but none has the tag 'gray'");
    }

    @Test
    void providerThatOnlyAcceptsConnectionsIsAskedAndGetsNoCalls() {
        peer(0).heard = false;
        start(3);

        assertThat(IntStream.range(0, 200).mapToObj(i -> pick()).map(Target::endpoint))
                .doesNotContain(instance(0).endpoint());
        assertThat(peer(0).probes).isEqualTo(1);
        peer(0).heard = true;
        now += 100 * TICK;
        assertThat(IntStream.range(0, 200).mapToObj(i -> pick()).map(Target::endpoint))
                .contains(instance(0).endpoint());
    }

    @Test
    void callsStartAttemptsToProvidersThatAreOutOfReach() {
        start(3);
        peer(1).available = false;
        for (int i = 0; i < 10; i++) {
            pick();
            now += 100 * TICK;
        }

        assertThat(peer(1).attempts).isEqualTo(2);
    }

    /** Opens a provider's port, and returns the time until the provider next gets a call. */
    private long untilCalled(int number) {
        Peer back = peer(number);
        back.open = true;
        long opened = now;
        while (now - opened < 10 * SECOND) {
            timer.move(10 * TICK);
            for (int i = 0; i < 10; i++) {
                if (pick().endpoint().equals(back.endpoint())) {
                    return now - opened;
                }
            }
        }
        throw new AssertionError("no call in ten seconds");
    }

    @Test
    void providerThatWasAwayForLongGetsACallWithinASecond() {
        start(3);
        for (int hours = 0; hours < 3; hours++) {
            peer(1).open = false;
            peer(1).available = false;
            pass(3_600 * SECOND + 33 * TICK * hours);

            assertThat(untilCalled(1)).isLessThanOrEqualTo(SECOND);
        }
    }

    @Test
    void oneOfManyProvidersOutOfReachGetsACallWithinASecond() {
        for (int i = 1; i < 25; i++) {
            peer(i).open = false;
            peer(i).available = false;
        }
        start(25);
        pass(60 * SECOND);

        assertThat(untilCalled(17)).isLessThanOrEqualTo(SECOND);
    }

    @Test
    void drainingProviderGetsNoCalls() {
        cluster.start(Duration.ZERO);
        source.lists(new Instance(instance(0).endpoint(), Attributes.DEFAULT.withDraining(true)), instance(1));

        assertThat(IntStream.range(0, 100).mapToObj(i -> pick()).map(Target::endpoint))
                .containsOnly(instance(1).endpoint());
    }

    @Test
    void providerWithWeightZeroGetsNoCallsWhileAnotherOneIsBeingConnected() {
        cluster.start(Duration.ZERO);
        source.lists(new Instance(instance(0).endpoint(), Attributes.ofWeight(0)), instance(1));
        peer(0).heard = false;
        peer(1).heard = false;

        assertThat(IntStream.range(0, 100).mapToObj(i -> pick()).map(Target::endpoint))
                .containsOnly(instance(1).endpoint());
        peer(0).heard = true;
        peer(1).available = false;
        assertThat(pick().endpoint()).isEqualTo(instance(0).endpoint());
    }

    @Test
    void subsetPrefersProvidersWithAWeight() {
        cluster.start(Duration.ZERO);
        source.lists(IntStream.range(0, 300)
                .mapToObj(i -> new Instance(instance(i).endpoint(), Attributes.ofWeight(i < 40 ? 100 : 0)))
                .toList());

        assertThat(cluster.targets()).hasSize(100);
        assertThat(cluster.targets().stream()
                        .filter(target -> target.attributes().weight() > 0))
                .hasSize(40);
    }

    private void call(Target target, Outcome outcome) {
        target.node().begin(now);
        target.node().end(outcome, TICK, now, usual);
    }

    /** Advances the clock in steps, and makes a call to any provider after each step. */
    private void pass(long nanos) {
        for (long until = now + nanos; now < until; ) {
            timer.move(100 * TICK);
            pick();
        }
    }

    @Test
    void eachChangeOfAProviderIsOneLine() {
        start(3);
        pass(SECOND);
        Target ill = cluster.targets().get(0);
        try (LoggedLines lines = new LoggedLines()) {
            for (int i = 0; i < 5; i++) {
                call(ill, Outcome.FAILED);
                now += 50 * TICK;
            }
            pass(SECOND);
            assertThat(lines.all())
                    .containsExactly("WARN 10.0.0.0:20880 of Orders is avoided for 10 s while another provider can take"
                            + " its calls: 5 failures in a row, the first one 200 ms ago");
            pass(10 * SECOND);
            assertThat(lines.all()).hasSize(2);
            assertThat(lines.all().get(1))
                    .startsWith("INFO 10.0.0.0:20880 of Orders gets calls again, to see whether it is well; it was"
                            + " avoided for 10");

            IntStream.range(0, 5).forEach(i -> call(ill, Outcome.FAILED));
            pass(5 * SECOND);
            assertThat(lines.all()).hasSize(3);
            assertThat(lines.all().get(2)).contains("is avoided again, for 20 s while");

            IntStream.range(0, 5).forEach(i -> call(ill, Outcome.ANSWERED));
            pass(30 * SECOND);
            assertThat(lines.all()).hasSize(4);
            assertThat(lines.all().get(3)).contains("of Orders has recovered; it was avoided for 5.0 s");
        }
    }

    @Test
    void silenceAndItsEndAreOneLineEach() {
        start(2);
        pass(SECOND);
        Target silent = cluster.targets().get(1);
        try (LoggedLines lines = new LoggedLines()) {
            silent.node().begin(now);
            silent.node().begin(now);
            for (int i = 0; i < 100; i++) {
                timer.move(200 * TICK);
                silent.isAvoided(now);
                pick();
            }
            assertThat(lines.all())
                    .containsExactly("WARN 10.0.0.1:20880 of Orders is silent: nothing arrived from it for 200 ms"
                            + " although 2 calls wait; other providers get the new calls");

            silent.node().end(Outcome.ANSWERED, 20 * SECOND, now, usual);
            silent.node().end(Outcome.ANSWERED, 20 * SECOND, now, usual);
            pass(10 * SECOND);
            assertThat(lines.all()).hasSize(2);
            assertThat(lines.all().get(1))
                    .isEqualTo("INFO 10.0.0.1:20880 of Orders gives signs of life again; it was silent for 20 s");
        }
    }

    @Test
    void providerThatIsConnectedAgainIsOneLineForAllReferences() {
        Cluster other = parts.cluster("Stock", "dubbo", source, nodes, ClusterSettings.DEFAULT);
        start(2);
        other.start(Duration.ZERO);
        pass(SECOND);
        try (LoggedLines lines = new LoggedLines()) {
            peer(0).available = false;
            pass(55 * SECOND);
            peer(0).available = true;
            pass(SECOND);
            other.pick("get", 0, "", false, null, now);

            assertThat(lines.all())
                    .containsExactly("INFO 10.0.0.0:20880 of Orders and 1 other is connected; it was out of reach for"
                            + " 55 s");
        }
    }

    @Test
    void providerThatFlapsTenTimesASecondCausesFourLinesAMinute() {
        start(2);
        pass(SECOND);
        Target flapping = cluster.targets().get(0);
        try (LoggedLines lines = new LoggedLines()) {
            for (int i = 0; i < 600; i++) { // Each iteration ejects the provider and lets it recover.
                IntStream.range(0, 5).forEach(j -> call(flapping, Outcome.FAILED));
                IntStream.range(0, 3).forEach(j -> call(flapping, Outcome.ANSWERED));
                pass(100 * TICK);
            }

            assertThat(lines.all()).hasSizeBetween(6, 8);
            timer.move(20 * SECOND);
            assertThat(lines.all()).hasSizeBetween(7, 9);
            assertThat(lines.all().get(lines.all().size() - 1))
                    .contains("has recovered")
                    .contains("more changes since the last line");
        }
    }

    @Test
    void callsCauseNoLines() {
        start(3);
        try (LoggedLines lines = new LoggedLines()) {
            for (int i = 0; i < 10_000; i++) {
                call(pick(), i % 100 == 0 ? Outcome.FAILED : Outcome.ANSWERED);
                timer.move(TICK);
            }

            assertThat(lines.all()).isEmpty();
        }
    }

    @Test
    void staleListAndItsEndAreOneLineEachForAllReferences() {
        Cluster other = parts.cluster("Stock", "dubbo", source, nodes, ClusterSettings.DEFAULT);
        try (LoggedLines lines = new LoggedLines()) {
            start(2);
            other.start(Duration.ZERO);
            assertThat(lines.all()).as("the usual start").isEmpty();

            timer.move(5 * SECOND);
            source.listener.accept(
                    EndpointSnapshot.stale(List.of(instances(2)), Instant.EPOCH, "10.0.0.9:2181 does not answer"));
            timer.move(60 * SECOND);
            source.lists(instances(2));

            assertThat(lines.all())
                    .containsExactly(
                            "WARN The list of Orders and 1 other from shop is STALE: 10.0.0.9:2181 does not answer; the"
                                    + " last 2 providers stay",
                            "INFO The list of Orders and 1 other from shop is FRESH, after 60 s as STALE; it has 2"
                                    + " providers");
        }
    }

    @Test
    void listThatFlapsCausesFourLinesAMinute() {
        start(2);
        try (LoggedLines lines = new LoggedLines()) {
            for (int i = 0; i < 600; i++) {
                source.listener.accept(
                        i % 2 == 0
                                ? EndpointSnapshot.stale(List.of(instances(2)), Instant.EPOCH, "gone")
                                : EndpointSnapshot.heard(List.of(instances(2)), Instant.EPOCH));
                timer.move(100 * TICK);
            }

            assertThat(lines.all()).hasSizeBetween(2, 8);
            timer.move(20 * SECOND);
            assertThat(lines.all().get(lines.all().size() - 1)).contains("is FRESH");
        }
    }

    @Test
    void twoSlowProvidersAreBothProbed() {
        start(5);
        pass(SECOND);
        for (Target target : cluster.targets()) {
            IntStream.range(0, 50).forEach(i -> call(target, Outcome.ANSWERED));
        }
        for (Target slow : cluster.targets().subList(1, 3)) {
            slow.node().begin(now);
            slow.node().end(Outcome.ANSWERED, 20 * TICK, now, usual);
        }
        List<Target> probed = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            timer.move(100 * TICK);
            pick();
            Target next = cluster.takeProbe("get", "", false, now);
            if (next != null) {
                probed.add(next);
            }
        }

        assertThat(probed).containsExactlyInAnyOrderElementsOf(cluster.targets().subList(1, 3));
    }

    @Test
    void probeIsOnlyForProvidersThatMayTakeTheCall() {
        cluster.start(Duration.ZERO);
        source.lists(
                new Instance(instance(0).endpoint(), Attributes.DEFAULT.withTags(Map.of(Attributes.TAG, "gray"))),
                instance(1),
                instance(2));
        pass(SECOND);
        call(cluster.targets().get(0), Outcome.FAILED);
        pass(100 * TICK);

        assertThat(cluster.takeProbe("get", "", false, now)).isNull();
        assertThat(cluster.takeProbe("get", "gray", false, now))
                .isSameAs(cluster.targets().get(0));
    }

    @Test
    void endpointsOfAnotherProtocolAreLeftOut() {
        cluster.start(Duration.ZERO);
        source.lists(Instance.of(new Endpoint("10.0.0.1", 1, "10.0.0.1", "tri")), instance(5));

        assertThat(listed()).containsExactly(instance(5).endpoint());
    }

    @Test
    void zoneThatDiffersOnlyInCaseIsOneWarning() {
        Cluster near = parts.cluster("Stock", "dubbo", source, nodes, ClusterSettings.DEFAULT.withZone("eu"));
        try (LoggedLines lines = new LoggedLines()) {
            near.start(Duration.ZERO);
            source.lists(new Instance(instance(0).endpoint(), Attributes.DEFAULT.withZone("EU")));
            timer.move(SECOND);
            source.lists(
                    new Instance(instance(0).endpoint(), Attributes.DEFAULT.withZone("EU")),
                    new Instance(instance(1).endpoint(), Attributes.DEFAULT.withZone("us")));
            timer.move(SECOND);

            assertThat(lines.all())
                    .filteredOn(line -> line.startsWith("WARN"))
                    .containsExactly(
                            "WARN Stock: no provider is in the zone 'eu' of this client, but some are in 'EU'. The"
                                    + " case of zones counts: change rpc.client.zone here, or rpc.server.advertise.zone there");
        }
    }

    @Test
    void wildcardAddressIsLeftOutWithOneWarning() {
        try (LoggedLines lines = new LoggedLines()) {
            cluster.start(Duration.ZERO);
            source.lists(Instance.of(new Endpoint("0.0.0.0", 20880)), instance(1));
            source.lists(Instance.of(new Endpoint("0.0.0.0", 20880)), instance(1), instance(2));
            timer.move(SECOND);

            assertThat(listed())
                    .containsExactly(instance(1).endpoint(), instance(2).endpoint());
            assertThat(lines.all())
                    .containsExactly("WARN shop lists 0.0.0.0:20880 for Orders, which cannot be a provider and is left"
                            + " out; look at the address that it registers");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "0",
                "0.1.2.3",
                "::",
                "0:0:0:0:0:0:0:0",
                "::ffff:0.0.0.0",
                "224.0.0.1",
                "239.255.255.255",
                "ff02::1",
                "FF0E::5",
                "255.255.255.255"
            })
    void addressThatCannotBeAProviderIsLeftOutOnceNamedAndCallsGoOn(String host) {
        try (LoggedLines lines = new LoggedLines()) {
            cluster.start(Duration.ZERO);
            for (int i = 0; i < 100; i++) { // A flapping address must not cause a log line for each change.
                source.lists(Instance.of(new Endpoint(host, 20880)), instance(1), instance(2 + i % 2));
                source.lists(instance(1), instance(2));
                timer.move(100 * TICK);
            }

            assertThat(pick()).isNotNull();
            assertThat(opened).extracting(Endpoint::host).doesNotContain(host);
            assertThat(lines.all())
                    .filteredOn(line -> line.contains("cannot be a provider"))
                    .hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "::1",
                "10.0.0.1",
                "223.255.255.255",
                "255.255.255.254",
                "fe80::1",
                "ff",
                "0.pool.internal",
                "224.internal",
                "::ffff:10.0.0.1",
                "localhost",
                "f:f::1"
            })
    void otherAddressesIncludingTheOwnMachineMayBeProviders(String host) {
        cluster.start(Duration.ZERO);
        source.lists(Instance.of(new Endpoint(host, 20880)));

        assertThat(pick().endpoint().host()).isEqualTo(host);
    }

    @Test
    void atMostAHundredUnusableAddressesAreNamed() {
        try (LoggedLines lines = new LoggedLines()) {
            cluster.start(Duration.ZERO);
            source.lists(IntStream.range(0, 10_000)
                    .mapToObj(i -> Instance.of(new Endpoint("224.0." + i / 250 + "." + i % 250, 20880)))
                    .toList());

            assertThat(lines.all())
                    .filteredOn(line -> line.contains("is left out"))
                    .hasSize(SharedSources.MAX_REFUSED);
        }
    }

    @Test
    void rulesStayWhenAnAddressIsLeftOut() {
        cluster.start(Duration.ZERO);
        source.listener.accept(EndpointSnapshot.heard(
                        List.of(Instance.of(new Endpoint("0.0.0.0", 20880)), instance(1)), Instant.EPOCH)
                .withRules(new Scripts(Map.of(), Map.of(instance(1).endpoint(), 7), List.of(), "")));

        assertThat(cluster.targets().get(0).attributes().weight()).isEqualTo(7);
    }

    @Test
    void listOfWildcardAddressesIsEmpty() {
        cluster.start(Duration.ZERO);
        source.lists(Instance.of(new Endpoint("::", 20880)));

        assertThatThrownBy(this::pick)
                .hasMessageContaining(
                        "whose list has no usable address since 1970-01-01T00:00:00Z: [::]:20880 cannot be a provider");
    }

    @Test
    void providersBeyondTheLargestListAreIgnored() {
        cluster.start(Duration.ZERO);
        Attributes shared = Attributes.DEFAULT;
        source.lists(IntStream.range(0, SharedSources.MAX_INSTANCES + 5)
                .mapToObj(i ->
                        new Instance(new Endpoint("10." + i / 65_536 + "." + i / 256 % 256 + "." + i % 256, 1), shared))
                .toList());

        assertThat(cluster.report(now).listed()).isEqualTo(SharedSources.MAX_INSTANCES);
        assertThat(cluster.targets()).hasSize(ClusterSettings.DEFAULT_SUBSET);
    }

    // The following tests cover traffic rules.

    /** Traffic rules that are set by the test. */
    private record Scripts(
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

    private void rule(Rules rules) {
        source.listener.accept(
                EndpointSnapshot.heard(List.of(instances(2)), Instant.EPOCH).withRules(rules));
        timer.move(2_000 * TICK);
    }

    @Test
    void rulesChangeWeightsWithoutTouchingConnections() {
        start(2);
        Target before = cluster.targets().get(0);

        rule(new Scripts(Map.of(), Map.of(before.endpoint(), 7), List.of(), ""));
        assertThat(cluster.targets().get(0)).isSameAs(before);
        assertThat(before.attributes().weight()).isEqualTo(7);
        rule(Rules.NONE);
        assertThat(before.attributes().weight()).isEqualTo(Attributes.DEFAULT_WEIGHT);

        assertThat(opened).hasSize(2);
    }

    @Test
    void disabledProviderIsLeftOutUnlessAllAreDisabled() {
        start(2);
        Endpoint first = instance(0).endpoint();
        Endpoint second = instance(1).endpoint();

        rule(new Scripts(Map.of(), Map.of(), List.of(first), ""));
        assertThat(listed()).containsExactly(second);
        rule(new Scripts(Map.of(), Map.of(), List.of(first, second), ""));
        assertThat(listed()).containsExactly(first, second);
    }

    @Test
    void tagOfARuleCountsLikeTheOwnOne() {
        start(2);

        rule(new Scripts(Map.of(instance(0).endpoint(), "gray"), Map.of(), List.of(), ""));

        for (int i = 0; i < 10; i++) {
            assertThat(pick().endpoint()).isEqualTo(instance(1).endpoint());
            assertThat(cluster.pick("get", 0, "gray", true, null, now).endpoint())
                    .isEqualTo(instance(0).endpoint());
        }
    }

    @Test
    void rulesMayForbidOneMethodAlone() {
        start(2);

        rule(new Scripts(Map.of(), Map.of(), List.of(), "put"));

        assertThat(pick()).isNotNull();
        assertThat(cluster.canTake("put", "", false)).isFalse();
        assertThatThrownBy(() -> cluster.pick("put", 0, "", false, null, now))
                .hasMessageContaining("no provider of Orders may take the call: all 2 (10.0.0.0:20880")
                .hasMessageContaining("are excluded by the scripts");
    }

    @Test
    void timeoutOfARuleNamesTheRule() {
        start(2);
        assertThat(cluster.timeLimit("get")).isNull();

        rule(Scripts.EMPTY);

        assertThat(cluster.timeLimit("get")).hasToString("100 ms (the scripts)");
        assertThat(cluster.timeLimit("put")).isNull();
    }

    @Test
    void ownRulesWinOverThoseOfTheSource() {
        start(2);
        Target first = cluster.targets().get(0);
        Target second = cluster.targets().get(1);
        rule(new Scripts(Map.of(), Map.of(first.endpoint(), 7, second.endpoint(), 8), List.of(), ""));

        cluster.rule(new Scripts(Map.of(), Map.of(first.endpoint(), 9), List.of(), ""));

        assertThat(first.attributes().weight()).isEqualTo(9);
        assertThat(second.attributes().weight()).isEqualTo(8);
        cluster.rule(Rules.NONE);
        assertThat(first.attributes().weight()).isEqualTo(7);
        assertThat(opened).hasSize(2);
    }

    @Test
    void endOfTheLastProviderOfAnEmptyListIsNotLoggedAsACompleteList() {
        start(2);
        try (LoggedLines lines = new LoggedLines()) {
            source.lists(List.of());
            timer.move(200 * TICK);
            peer(0).available = false;
            peer(1).available = false;
            timer.move(5_000 * TICK);

            assertThat(cluster.targets()).isEmpty();
            assertThat(lines.all()).noneMatch(line -> line.contains("lists all providers that are used"));
        }
    }

    private Cluster balanced(String name, Balancer.Factory factory) {
        Cluster made = parts.cluster(
                "Orders", "dubbo", source, nodes, ClusterSettings.DEFAULT.withPolicy(new NamedPolicy(name, factory)));
        made.start(Duration.ZERO);
        source.lists(instances(2));
        return made;
    }

    @Test
    void balancerThatCannotBeCreatedFailsTheCallsWithItsName() {
        try (Cluster made = balanced("mine", candidates -> null)) {
            assertThatThrownBy(() -> made.pick("get", 0, "", false, null, now))
                    .hasMessage("INTERNAL: the load balancing 'mine' cannot be used: its factory returned null");
        }
        Balancer.Factory throwing = candidates -> {
            throw new IllegalStateException("on purpose");
        };
        try (Cluster made = balanced("mine", throwing)) {
            assertThatThrownBy(() -> made.pick("get", 0, "", false, null, now))
                    .hasMessageContaining("the load balancing 'mine' cannot be used: its factory threw ")
                    .hasMessageContaining("on purpose");
        }
    }

    @Test
    void balancerThatFailsAtTheEndOfACallChangesNothing() {
        Balancer.Factory failing = candidates -> new Balancer() {
            @Override
            public Candidate pick(long key, @Nullable Candidate excluded, long nowNanos) {
                return candidates.get(0);
            }

            @Override
            public void ended(Candidate picked, Outcome outcome, long tookNanos) {
                throw new IllegalStateException("on purpose");
            }
        };
        try (Cluster made = balanced("mine", failing)) {
            Target picked = made.pick("get", 0, "", false, null, now);

            assertThatCode(() -> made.ended(picked, Outcome.ANSWERED, 1)).doesNotThrowAnyException();
        }
    }

    @Test
    void startTimesAnHourApartChangeNoShare() {
        cluster.start(Duration.ZERO);
        long hour = TimeUnit.HOURS.toMillis(1);
        long wall = System.currentTimeMillis();

        source.lists(
                new Instance(instance(0).endpoint(), Attributes.DEFAULT.withStartedAt(wall - hour)),
                new Instance(instance(1).endpoint(), Attributes.DEFAULT.withStartedAt(wall + hour)));

        Target past = cluster.targets().get(0);
        Target future = cluster.targets().get(1);
        assertThat(future.warmth(now)).isEqualTo(past.warmth(now));
        assertThat(future.score(now)).isEqualTo(past.score(now));
    }
}
