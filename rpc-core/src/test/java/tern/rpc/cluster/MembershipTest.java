package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Rules;

/** Tests how the providers of references are maintained: without calls, and after the maintenance itself has failed. */
class MembershipTest extends SimulatedCluster {

    /** A source that reports a list while its start blocks for three seconds. */
    private final class Slow implements EndpointSource {
        @Override
        public void start(Consumer<EndpointSnapshot> listener) {
            listener.accept(EndpointSnapshot.heard(List.of(instances(3)), Instant.EPOCH));
            timer.move(3 * SECOND);
        }

        @Override
        public Object key() {
            return "slow";
        }

        @Override
        public String toString() {
            return "slow";
        }
    }

    /** Rules that throw an error until the test permits them, as if memory were low. */
    private static final class Failing implements Rules {
        private boolean fails = true;

        @Override
        public String loadBalancing() {
            if (fails) {
                throw new OutOfMemoryError("injected");
            }
            return "round-robin";
        }

        @Override
        public String toString() {
            return "rules of a test";
        }
    }

    private List<Cluster> references(int count) {
        List<Cluster> references = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Scripted of = new Scripted("application-" + i / 20);
            Cluster reference = parts.cluster("Service" + i, List.of(), "dubbo", of, nodes, ClusterSettings.DEFAULT);
            reference.start(Duration.ZERO);
            of.lists(instances(3));
            references.add(reference);
        }
        return references;
    }

    @Test
    void thousandIdleReferencesAreCheckedByOneTaskEveryTenSeconds() {
        references(1_000);
        timer.move(60 * SECOND);
        timer.ran = 0;

        timer.move(60 * SECOND);

        assertThat(timer.ran).isEqualTo(6);
    }

    @Test
    void thousandIdleReferencesToADeadProviderAreCheckedByOneTaskASecond() {
        peer(0).available = false;
        references(1_000);
        timer.move(60 * SECOND);
        timer.ran = 0;

        timer.move(60 * SECOND);

        assertThat(timer.ran).isEqualTo(60);
    }

    @Test
    void lostConnectionAndItsReturnAreLoggedOnceWithoutCalls() {
        Cluster other = parts.cluster("Stock", List.of(), "dubbo", source, nodes, ClusterSettings.DEFAULT);
        start(2);
        other.start(Duration.ZERO);
        timer.move(60 * SECOND);
        try (LoggedLines lines = new LoggedLines()) {
            peer(0).available = false;
            timer.move(20 * SECOND);
            peer(0).available = true;
            timer.move(20 * SECOND);

            assertThat(lines.all()).hasSize(2);
            assertThat(lines.all().get(0)).contains("is not connected: 10.0.0.0:20880, refused");
            assertThat(lines.all().get(1)).contains("10.0.0.0:20880 of Orders and 1 other is connected");
        }
    }

    @Test
    void connectionsAreCheckedAgainAfterAllReferencesWereClosedForAWhile() {
        start(2);
        timer.move(20 * SECOND);
        cluster.close();
        timer.move(15 * SECOND);
        Cluster next = cluster(source);
        next.start(Duration.ZERO);
        source.lists(instances(2));
        timer.move(20 * SECOND);
        try (LoggedLines lines = new LoggedLines()) {
            peer(0).available = false;
            timer.move(12 * SECOND);

            assertThat(lines.all()).singleElement().asString().contains("is not connected: 10.0.0.0:20880");
        }
    }

    @Test
    void providersOfAListThatArrivesWhileTheStartBlocksAreLogged() {
        peer(1).available = false;
        Cluster slow = cluster(new Slow());
        try (LoggedLines lines = new LoggedLines()) {
            slow.start(Duration.ZERO);
            timer.move(20 * SECOND);

            assertThat(lines.all())
                    .containsExactly("INFO 1 provider of Orders from slow is not connected: 10.0.0.1:20880, refused");
        }
    }

    @Test
    void delayedLineOmitsProvidersThatAreConnectedAgain() {
        start(10);
        timer.move(20 * SECOND);
        try (LoggedLines lines = new LoggedLines()) {
            for (int i = 0; i < 4; i++) { // The log writes the first four lines immediately, and delays later lines.
                peer(i).available = false;
                pass(SECOND + 100 * TICK);
            }
            peer(4).available = false;
            peer(5).available = false;
            pass(2 * SECOND);
            peer(5).available = true;
            pass(30 * SECOND);

            assertThat(lines.all().stream().filter(line -> line.contains("not connected")))
                    .hasSize(5)
                    .noneMatch(line -> line.contains("10.0.0.5:20880") || line.contains("2 providers"));
        }
    }

    @Test
    void delayedLineAboutAProviderThatIsConnectedAgainIsNotWritten() {
        start(10);
        timer.move(20 * SECOND);
        try (LoggedLines lines = new LoggedLines()) {
            for (int i = 0; i < 5; i++) { // The log writes the first four lines immediately, and delays the fifth line.
                peer(i).available = false;
                pass(SECOND + 100 * TICK);
            }
            peer(4).available = true;
            pass(60 * SECOND);

            assertThat(lines.all().stream().filter(line -> line.contains("not connected")))
                    .hasSize(4);
        }
    }

    @Test
    void connectionsOfAListThatCouldNotBeAppliedAreClosed() {
        start(2);
        timer.move(2 * SECOND);
        Failing rules = new Failing();

        source.listener.accept(
                EndpointSnapshot.heard(List.of(instances(3)), Instant.EPOCH).withRules(rules));
        timer.move(20 * SECOND);

        assertThat(listed()).hasSize(2);
        assertThat(peer(2).closed).isFalse();
        source.lists(instances(2));
        timer.move(60 * SECOND);
        assertThat(peer(2).closed).isTrue();
        assertThat(peer(0).closed).isFalse();
    }

    @Test
    void rulesThatCouldNotBeAppliedAreAppliedLater() {
        start(2);
        timer.move(2 * SECOND);
        Failing rules = new Failing();
        source.listener.accept(
                EndpointSnapshot.heard(List.of(instances(2)), Instant.EPOCH).withRules(rules));
        timer.move(2 * SECOND);
        assertThat(cluster.targets()).hasSize(2);

        rules.fails = false;
        timer.move(2 * SECOND);

        assertThat(pick()).isNotSameAs(pick()); // Round-robin alternates.
        assertThat(pick()).isNotSameAs(pick());
    }

    @Test
    void ownRulesThatCannotBeAppliedFailTheirCallerAndAreAppliedLater() {
        start(2);
        Failing rules = new Failing();

        assertThatThrownBy(() -> cluster.rule(rules)).isInstanceOf(OutOfMemoryError.class);
        rules.fails = false;
        source.lists(instances(3));
        timer.move(2 * SECOND);

        assertThat(List.of(pick(), pick(), pick())).doesNotHaveDuplicates();
    }

    @Test
    void nodesOfReplacedMembersAreReleasedAlthoughAChoiceFailed() {
        Map<Integer, Peer> dead = Map.of(0, peer(0), 1, peer(1), 2, peer(2));
        dead.values().forEach(peer -> peer.available = false);
        Cluster small =
                parts.cluster("Orders", List.of(), "dubbo", source, nodes, ClusterSettings.DEFAULT.withSubset(3));
        small.start(Duration.ZERO);
        source.lists(instances(6));
        timer.move(60 * SECOND);
        Failing rules = new Failing();
        source.listener.accept(
                EndpointSnapshot.heard(List.of(instances(7)), Instant.EPOCH).withRules(rules));
        timer.move(5 * SECOND);
        rules.fails = false;
        timer.move(5 * SECOND);

        small.close();
        timer.move(60 * SECOND);

        assertThat(opened).allMatch(endpoint -> peers.get(endpoint).closed);
    }
}
