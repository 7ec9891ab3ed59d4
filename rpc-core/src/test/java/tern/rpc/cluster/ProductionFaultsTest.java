package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Outcome;
import tern.rpc.endpoint.Rules;

/** Tests faults that deployments, networks and registries cause in production. */
class ProductionFaultsTest extends SimulatedCluster {

    private static final int MANY = 300;
    private static final int SUBSET = ClusterSettings.DEFAULT_SUBSET;

    private static List<Instance> each(int count, IntFunction<Attributes> attributes) {
        return IntStream.range(0, count)
                .mapToObj(i -> new Instance(instance(i).endpoint(), attributes.apply(i)))
                .toList();
    }

    private Cluster cluster(String service, ClusterSettings settings) {
        Cluster made = parts.cluster(service, List.of("get", "put"), "dubbo", source, nodes, settings);
        made.start(Duration.ZERO);
        return made;
    }

    private void available(Set<Endpoint> endpoints, boolean isAvailable) {
        endpoints.forEach(endpoint -> {
            Peer peer = peers.computeIfAbsent(endpoint, Peer::new);
            peer.times += isAvailable && !peer.available ? 1 : 0;
            peer.available = isAvailable;
            peer.open = isAvailable;
        });
    }

    private int unusablePicks(int count) {
        return (int) IntStream.range(0, count)
                .filter(i -> !cluster.pick("get", 0, "", false, null, now).isUsable())
                .count();
    }

    @Test
    void providersThatCrashTwiceAfterTheirStartAreUsedAgainWithinASecond() {
        start(10);
        pass(100 * SECOND);
        Set<Endpoint> all = new HashSet<>(listed());
        for (int i = 0; i < 2; i++) {
            available(all, false);
            pass(3 * SECOND);
            available(all, true);
            pass(5 * SECOND);
        }
        available(all, false);
        pass(60 * SECOND);

        available(all, true);
        pass(SECOND);

        assertThat(unusablePicks(1_000)).isZero();
        Set<Endpoint> picked = new HashSet<>();
        IntStream.range(0, 1_000).forEach(i -> picked.add(pick().endpoint()));
        assertThat(picked).isEqualTo(all);
    }

    @Test
    void providerThatLosesFiveConnectionsWithTheirCallsIsEjected() {
        start(3);
        timer.move(60 * SECOND);
        Target crashing = cluster.targets().get(0);
        for (int i = 0; i < 6; i++) {
            crashing.node().begin(now);
            available(Set.of(crashing.endpoint()), false);
            crashing.node().end(Outcome.FAILED, TICK, now, usual);
            timer.move(2 * SECOND);
            available(Set.of(crashing.endpoint()), true);
            timer.move(20 * SECOND);
        }

        assertThat(crashing.node().ejection().count()).isEqualTo(1);
    }

    /** If many clients call a provider that was frozen, its first answers are slow. */
    @Test
    void answerAfterALongSilenceEndsTheFailuresThatBeganWithIt() {
        start(3);
        timer.move(60 * SECOND);
        Target frozen = cluster.targets().get(0);
        call(frozen, Outcome.ANSWERED);
        frozen.node().begin(now);
        frozen.node().begin(now);
        for (int i = 0; i < 10; i++) {
            timer.move(100 * TICK);
            frozen.isAvoided(now);
        }
        frozen.node().end(Outcome.FAILED, SECOND, now, usual);
        assertThat(frozen.isSlow(now)).isTrue();

        frozen.node().end(Outcome.ANSWERED, SECOND, now, usual);

        assertThat(frozen.isSlow(now)).isFalse();
        assertThat(frozen.isAvoided(now)).isFalse();
    }

    @Test
    void restartedProviderThatGetsNoCallsIsConnectedWhenItsEntryChanges() {
        cluster.start(Duration.ZERO);
        source.lists(each(3, i -> Attributes.DEFAULT.withStartedAt(1)));
        timer.move(100 * SECOND);
        available(Set.of(instance(0).endpoint()), false);
        timer.move(600 * SECOND);
        assertThat(peer(0).attempts).isZero();

        available(Set.of(instance(0).endpoint()), false);
        peer(0).open = true;
        source.lists(each(3, i -> Attributes.DEFAULT.withStartedAt(i == 0 ? 2 : 1)));

        assertThat(peer(0).attempts).isOne();
        assertThat(peer(0).available).isTrue();
    }

    @Test
    void providerThatIsListedAgainIsConnectedWithoutCalls() {
        start(3);
        timer.move(100 * SECOND);
        peer(2).available = false;
        source.lists(instances(2));
        timer.move(20 * SECOND);
        assertThat(peer(2).attempts).isZero();

        source.lists(instances(3));
        timer.move(2 * SECOND);

        assertThat(peer(2).attempts).isOne();
    }

    @Test
    void listThatIsEmptyAndFullInTurnFailsNoCallAndOpensEachConnectionOnce() {
        start(20);
        timer.move(2 * SECOND);
        int unusable = 0;
        for (int i = 0; i < 200; i++) {
            source.lists(i % 2 == 0 ? List.of() : List.of(instances(20)));
            timer.move(200 * TICK);
            unusable += unusablePicks(10);
        }

        assertThat(unusable).isZero();
        assertThat(opened).hasSize(20);
    }

    @Test
    void clockThatJumpsByAnHourFailsNoCall() {
        start(10);
        pass(60 * SECOND);
        IntStream.range(0, 1_000).forEach(i -> call(pick(), Outcome.ANSWERED));

        now += TimeUnit.HOURS.toNanos(1);
        assertThat(unusablePicks(100)).isZero();
        pass(SECOND);

        assertThat(unusablePicks(1_000)).isZero();
        assertThat(opened).hasSize(10);
        assertThat(cluster.targets()).noneMatch(target -> target.isAvoided(now));
    }

    /** The calls in flight seem to have waited for an hour. */
    @Test
    void clockThatJumpsDuringCallsAvoidsTheProvidersOnlyUntilTheyAnswer() {
        start(3);
        pass(60 * SECOND);
        IntStream.range(0, 100).forEach(i -> call(pick(), Outcome.ANSWERED));
        List<Target> busy = cluster.targets();
        busy.forEach(target -> target.node().begin(now));

        now += TimeUnit.HOURS.toNanos(1);
        assertThat(unusablePicks(100)).isZero();
        busy.forEach(target -> target.node().end(Outcome.ANSWERED, TICK, now, usual));

        assertThat(busy).noneMatch(target -> target.isAvoided(now));
    }

    @Test
    void nameThatResolvesToAnotherAddressLosesNoCallUntilTheNewOneIsConnected() {
        start(1);
        timer.move(60 * SECOND);
        peer(7).available = false;

        source.lists(instance(7));
        for (int i = 0; i < 100; i++) {
            timer.move(100 * TICK);
            assertThat(pick().endpoint()).isEqualTo(instance(0).endpoint());
        }
        peer(7).available = true;
        timer.move(SECOND);

        assertThat(pick().endpoint()).isEqualTo(instance(7).endpoint());
    }

    @Test
    void providersWhoseSecondAddressFamilyIsOutOfReachGetAllCalls() {
        List<Instance> both = new ArrayList<>(List.of(instances(5)));
        IntStream.range(1, 6).forEach(i -> {
            Endpoint second = new Endpoint("2001:db8::" + i, 20880);
            peers.computeIfAbsent(second, Peer::new).available = false;
            both.add(Instance.of(second));
        });
        cluster.start(Duration.ZERO);
        source.lists(both);
        pass(60 * SECOND);

        assertThat(unusablePicks(1_000)).isZero();
    }

    @Test
    void membersThatDrainGiveTheirPlacesToOtherProviders() {
        start(MANY);
        pass(5 * SECOND);
        Set<Endpoint> members = new HashSet<>(listed());
        peers.get(listed().get(0)).streams = 1;

        source.lists(IntStream.range(0, MANY)
                .mapToObj(i -> new Instance(
                        instance(i).endpoint(),
                        Attributes.DEFAULT.withDraining(
                                members.contains(instance(i).endpoint()))))
                .toList());
        pass(5 * SECOND);

        assertThat(listed()).hasSize(SUBSET).doesNotContainAnyElementsOf(members);
        assertThat(unusablePicks(1_000)).isZero();
        pass(600 * SECOND);
        // only the connection with the open stream is still open
        assertThat(members.stream().filter(each -> !peers.get(each).closed)).hasSize(1);
    }

    @Test
    void drainThatNeverEndsKeepsItsStreamsAndGetsNoCalls() {
        start(3);
        timer.move(60 * SECOND);
        peer(0).streams = 5;
        source.lists(each(3, i -> Attributes.DEFAULT.withDraining(i == 0)));
        for (int hour = 0; hour < 24; hour++) {
            now += TimeUnit.HOURS.toNanos(1);
            timer.move(2 * SECOND);
            IntStream.range(0, 100)
                    .forEach(i -> assertThat(pick().endpoint())
                            .isNotEqualTo(instance(0).endpoint()));
        }

        assertThat(peer(0).closed).isFalse();
    }

    @Test
    void clientOfALongListHasConnectionsToOtherZonesWhenItsOwnZoneFails() {
        Cluster zoned = cluster("Stock", ClusterSettings.DEFAULT.withZone("near"));
        source.lists(each(2_000, i -> Attributes.DEFAULT.withZone(i < 1_500 ? "near" : "far")));
        timer.move(5 * SECOND);
        assertThat(zoned.targets()).hasSize(SUBSET);
        Set<Endpoint> near = new HashSet<>();
        zoned.targets().stream()
                .filter(target -> target.attributes().zone().equals("near"))
                .forEach(target -> near.add(target.endpoint()));
        assertThat(near).hasSize(SUBSET - SUBSET / 10);

        available(near, false);
        for (int i = 0; i < 300; i++) {
            timer.move(10 * TICK);
            assertThat(zoned.pick("get", 0, "", false, null, now).isUsable()).isTrue();
        }
    }

    @Test
    void zoneThatVanishesFromTheListAndReturnsIsFollowed() {
        Cluster zoned = cluster("Stock", ClusterSettings.DEFAULT.withZone("near"));
        List<Instance> both = each(20, i -> Attributes.DEFAULT.withZone(i < 10 ? "near" : "far"));
        source.lists(both);
        timer.move(60 * SECOND);

        source.lists(both.subList(10, 20));
        timer.move(60 * SECOND);
        assertThat(zoned.pick("get", 0, "", false, null, now).attributes().zone())
                .isEqualTo("far");
        source.lists(both);
        timer.move(2 * SECOND);

        for (int i = 0; i < 100; i++) {
            assertThat(zoned.pick("get", 0, "", false, null, now).attributes().zone())
                    .isEqualTo("near");
        }
    }

    @Test
    void tagWhoseProvidersVanishFallsBackAndAForcedTagNamesTheReason() {
        cluster.start(Duration.ZERO);
        List<Instance> all =
                each(10, i -> i < 2 ? Attributes.DEFAULT.withTags(Map.of(Attributes.TAG, "gray")) : Attributes.DEFAULT);
        source.lists(all);
        timer.move(60 * SECOND);

        source.lists(all.subList(2, 10));
        timer.move(60 * SECOND);

        assertThat(cluster.pick("get", 0, "gray", false, null, now).isUsable()).isTrue();
        assertThatThrownBy(() -> cluster.pick("get", 0, "gray", true, null, now))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("'gray'");
    }

    @Test
    void keysOfConsistentHashMoveOnlyFromTheProviderThatLeavesAndReturnWithIt() {
        Cluster hashed = cluster("Stock", ClusterSettings.DEFAULT.withPolicy(Policies.named(Policies.CONSISTENT_HASH)));
        source.lists(instances(10));
        timer.move(60 * SECOND);
        Map<Long, Endpoint> before = owners(hashed);

        source.lists(List.of(instances(10)).subList(1, 10));
        timer.move(2 * SECOND);
        Map<Long, Endpoint> without = owners(hashed);
        source.lists(instances(10));
        timer.move(2 * SECOND);

        before.forEach((key, owner) -> {
            if (!owner.equals(instance(0).endpoint())) {
                assertThat(without.get(key)).isEqualTo(owner);
            }
        });
        assertThat(owners(hashed)).isEqualTo(before);
    }

    private Map<Long, Endpoint> owners(Cluster hashed) {
        Map<Long, Endpoint> owners = new HashMap<>();
        for (long key = 1; key <= 1_000; key++) {
            long hash = Hashes.mix(key);
            owners.put(hash, hashed.pick("get", hash, "", false, null, now).endpoint());
        }
        return owners;
    }

    @Test
    void weightsThatAllBecomeZeroAndBackFailNoCall() {
        start(10);
        timer.move(60 * SECOND);
        for (int i = 0; i < 20; i++) {
            int weight = i % 2 == 0 ? 0 : 100;
            source.lists(each(10, number -> Attributes.ofWeight(weight)));
            timer.move(2 * SECOND);
            assertThat(unusablePicks(100)).isZero();
        }

        assertThat(opened).hasSize(10);
    }

    @Test
    void providerWhoseOldEntryStaysUnderAnotherPortCostsNoCall() {
        Endpoint old = new Endpoint(instance(0).endpoint().host(), 20881);
        peers.computeIfAbsent(old, Peer::new).available = false;
        cluster.start(Duration.ZERO);
        source.lists(Instance.of(old), instance(0), instance(1));
        pass(60 * SECOND);

        assertThat(unusablePicks(1_000)).isZero();
    }

    /** Rules that disable the providers of one protocol. */
    private record Disabling(String protocol) implements Rules {

        @Override
        public @Nullable Attributes attributes(Instance provider) {
            return provider.endpoint().protocol().equals(protocol) ? null : provider.attributes();
        }

        @Override
        public List<Instance> route(String method, List<Instance> providers) {
            return method.equals("put")
                    ? providers.stream()
                            .filter(each -> !each.endpoint().protocol().equals(protocol))
                            .toList()
                    : providers;
        }

        @Override
        public boolean isByMethod() {
            return true;
        }

        @Override
        public String toString() {
            return "a rule";
        }
    }

    private static List<Instance> ofBothProtocols(int count) {
        List<Instance> providers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String host = instance(i).endpoint().host();
            providers.add(Instance.of(new Endpoint(host, 20880, host, "dubbo")));
            providers.add(Instance.of(new Endpoint(host, 50051, host, "tri")));
        }
        return providers;
    }

    private void assertThatTheRuleIsIgnored(int providers) {
        cluster.start(Duration.ZERO);
        source.listener.accept(EndpointSnapshot.heard(ofBothProtocols(providers), Instant.EPOCH)
                .withRules(new Disabling("dubbo")));
        timer.move(5 * SECOND);

        assertThat(cluster.pick("get", 0, "", false, null, now).endpoint().protocol())
                .isEqualTo("dubbo");
    }

    @Test
    void ruleThatDisablesAllProvidersOfTheOwnProtocolIsIgnored() {
        assertThatTheRuleIsIgnored(5);
    }

    @Test
    void ruleThatDisablesAllProvidersOfTheOwnProtocolOfALongListIsIgnored() {
        assertThatTheRuleIsIgnored(MANY);
    }

    /** The error message must say how many providers the rule excludes. */
    @Test
    void ruleThatExcludesTheOwnProtocolIsNamedWithItsProviders() {
        Cluster subset = cluster("Stock", ClusterSettings.DEFAULT.withSubset(10));
        Rules rules = new Rules() {
            @Override
            public List<Instance> route(String method, List<Instance> providers) {
                return providers.stream()
                        .filter(each -> !each.endpoint().protocol().equals("dubbo"))
                        .toList();
            }

            @Override
            public String toString() {
                return "a rule";
            }
        };
        source.listener.accept(
                EndpointSnapshot.heard(ofBothProtocols(MANY), Instant.EPOCH).withRules(rules));
        timer.move(5 * SECOND);

        assertThatThrownBy(() -> subset.pick("get", 0, "", false, null, now))
                .hasMessageContaining("all 10")
                .hasMessageContaining("are excluded by a rule");
    }

    @Test
    void referencesWithEqualRulesShareTheOrderOfTheirProviders() {
        Rankings rankings = new Rankings(1);
        Rules one = new Disabling("tri");
        Rules equal = new Disabling("tri");

        RankedProviders shared = rankings.of(new Rankings.Key("source", "dubbo", "", one, "get"));

        assertThat(rankings.of(new Rankings.Key("source", "dubbo", "", equal, "get")))
                .isSameAs(shared);
        assertThat(rankings.of(new Rankings.Key("source", "dubbo", "", Rules.NONE, "get")))
                .isNotSameAs(shared);
    }
}
