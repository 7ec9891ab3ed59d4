package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.Instance;

/** Tests which addresses of a list a cluster uses. */
class ClusterAddressesTest extends SimulatedCluster {

    @Test
    void endpointsOfAnotherProtocolAreLeftOut() {
        cluster.start(Duration.ZERO);
        source.lists(Instance.of(new Endpoint("10.0.0.1", 1, "10.0.0.1", "tri")), instance(5));

        assertThat(listed()).containsExactly(instance(5).endpoint());
    }

    @Test
    void zoneThatDiffersOnlyInCaseIsOneWarning() {
        Cluster near =
                parts.cluster("Stock", List.of(), "dubbo", source, nodes, ClusterSettings.DEFAULT.withZone("eu"));
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
                                    + " case of zones counts: change rpc.client.zone here, or"
                                    + " rpc.server.advertise.zone there");
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
                            + " out; check the address that it registers");
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
}
