package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Outcome;

/** Tests the messages, reports and log lines of a cluster. */
class ClusterMessagesTest extends SimulatedCluster {

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
        pick(); // after this first choice of a provider, the nodes count as connected
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
    void failureSaysThatTheSourceWasNeverHeard() {
        cluster.start(Duration.ZERO);
        source.listener.accept(EndpointSnapshot.unknown(Instant.EPOCH, "10.0.0.9:2181 does not answer"));

        assertThatThrownBy(this::pick)
                .hasMessageContaining("its source is shop, which has not answered since 1970-01-01T00:00:00Z:"
                        + " 10.0.0.9:2181"
                        + " does not answer; check whether it can be reached");
    }

    @Test
    void failureSaysThatTheSourceIsOutOfReachAndItsLastListIsEmpty() {
        cluster.start(Duration.ZERO);
        source.listener.accept(EndpointSnapshot.stale(List.of(), Instant.EPOCH, "10.0.0.9:2181 does not answer"));

        assertThatThrownBy(this::pick)
                .hasMessageContaining(
                        "its source is shop, which cannot be reached since 1970-01-01T00:00:00Z: 10.0.0.9:2181"
                                + " does not answer; check whether it can be reached");
    }

    @Test
    void failureSaysThatAllAddressesAreOfOtherProtocols() {
        cluster.start(Duration.ZERO);
        source.lists(Instance.of(new Endpoint("10.0.0.1", 1, "10.0.0.1", "tri")));

        assertThatThrownBy(this::pick)
                .hasMessageContaining(
                        "its source is shop, whose 1 addresses all have other protocols (tri://10.0.0.1:1) since"
                                + " 1970-01-01T00:00:00Z; check the protocol of the reference");
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
                                + " for 7.0 s more), 10.0.0.1:20880 (5 failures in a row, avoided for 3.0 s, and for"
                                + " 7.0 s"
                                + " more); check their logs");
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
                        + " 10.0.0.0:20880, 10.0.0.1:20880; check whether new ones were started");
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
                    .startsWith("INFO 10.0.0.0:20880 of Orders gets calls again as a test; it was avoided for 10");

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
                    .containsExactly("WARN 10.0.0.1:20880 of Orders is silent: nothing arrived from it for 800 ms"
                            + " although 2 calls wait; other providers get the new calls");

            silent.node().end(Outcome.ANSWERED, 20 * SECOND, now, usual);
            silent.node().end(Outcome.ANSWERED, 20 * SECOND, now, usual);
            pass(10 * SECOND);
            assertThat(lines.all()).hasSize(2);
            assertThat(lines.all().get(1))
                    .isEqualTo("INFO 10.0.0.1:20880 of Orders sends data again; it was silent for 20 s");
        }
    }

    @Test
    void lostProviderAndItsReturnAreOneLineEachForAllReferences() {
        Cluster other = parts.cluster("Stock", List.of(), "dubbo", source, nodes, ClusterSettings.DEFAULT);
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
                    .containsExactly(
                            "INFO 1 provider of Orders and 1 other from shop is not connected: 10.0.0.0:20880, refused",
                            "INFO 10.0.0.0:20880 of Orders and 1 other is connected; it was unreachable for 55 s");
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
                IntStream.range(0, 32).forEach(j -> call(flapping, Outcome.ANSWERED));
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
        Cluster other = parts.cluster("Stock", List.of(), "dubbo", source, nodes, ClusterSettings.DEFAULT);
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
}
