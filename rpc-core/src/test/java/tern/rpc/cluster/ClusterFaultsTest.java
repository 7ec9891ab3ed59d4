package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Outcome;
import tern.rpc.endpoint.Rules;

/** Tests rare faults of sources, lists and providers. */
class ClusterFaultsTest extends SimulatedCluster {

    private static final int MANY = 300;
    private static final int SUBSET = ClusterSettings.DEFAULT_SUBSET;

    private final Random random = new Random(1);

    /** A source whose methods throw exceptions. */
    private static class Broken implements EndpointSource {
        Consumer<EndpointSnapshot> listener = snapshot -> {};

        @Override
        public void start(Consumer<EndpointSnapshot> told) {
            listener = told;
        }

        @Override
        public void refresh() {
            throw new IllegalStateException("on purpose");
        }

        @Override
        public Object key() {
            return "broken";
        }

        @Override
        public String toString() {
            return "broken";
        }

        @Override
        public void close() {
            throw new IllegalStateException("on purpose");
        }
    }

    private static List<Instance> all() {
        return List.of(instances(MANY));
    }

    private static List<Instance> each(List<Instance> instances, Function<Attributes, Attributes> change) {
        return instances.stream()
                .map(each -> new Instance(each.endpoint(), change.apply(each.attributes())))
                .toList();
    }

    private void available(boolean isAvailable) {
        IntStream.range(0, MANY).forEach(i -> peer(i).available = isAvailable);
    }

    private List<Target> picks(int count) {
        return IntStream.range(0, count).mapToObj(i -> pick()).toList();
    }

    @Test
    void sourceThatCannotRefreshFailsNoCall() {
        Broken broken = new Broken();
        Cluster reference = cluster(broken);
        reference.start(Duration.ZERO);
        try (LoggedLines lines = new LoggedLines()) {
            for (int i = 0; i < 100; i++) {
                assertThatThrownBy(() -> reference.pick("get", 0, "", false, null, now))
                        .isInstanceOfSatisfying(
                                RpcException.class,
                                failure -> assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE));
            }
            assertThat(lines.all()).singleElement().asString().contains("broken failed to look up");
        }
        peer(0).available = false;
        peer(1).available = false;
        broken.listener.accept(EndpointSnapshot.heard(List.of(instances(2)), Instant.EPOCH));
        timer.move(2 * SECOND);

        assertThat(reference.pick("get", 0, "", false, null, now).isUsable()).isFalse();
    }

    @Test
    void sourceThatCannotBeClosedDoesNotKeepTheClientFromClosing() {
        Cluster reference = cluster(new Broken());
        reference.start(Duration.ZERO);

        assertThatCode(reference::close).doesNotThrowAnyException();
    }

    @Test
    void referenceThatWaitedForASourceThatCouldNotStartHasTheReason() {
        Cluster second = cluster(new Broken());
        Cluster first = cluster(new Broken() {
            @Override
            public void start(Consumer<EndpointSnapshot> told) {
                second.start(Duration.ZERO);
                throw new IllegalArgumentException("the address is wrong");
            }
        });

        assertThatThrownBy(() -> first.start(Duration.ZERO)).hasMessage("the address is wrong");

        assertThatThrownBy(() -> second.pick("get", 0, "", false, null, now))
                .hasMessageContaining("could not be started")
                .hasMessageContaining("the address is wrong");
        Broken works = new Broken();
        Cluster third = cluster(works);
        third.start(Duration.ZERO);
        works.listener.accept(EndpointSnapshot.heard(List.of(instances(2)), Instant.EPOCH));
        assertThat(third.targets()).hasSize(2);
        first.close();
        second.close();
        assertThat(third.targets()).hasSize(2);
    }

    @Test
    void listInAnotherOrderEachTimeOpensNoFurtherConnection() {
        start(MANY);
        pass(5 * SECOND);
        List<Target> before = cluster.targets();
        for (int i = 0; i < 50; i++) {
            List<Instance> shuffled = new ArrayList<>(all());
            Collections.shuffle(shuffled, random);
            source.lists(shuffled);
            pass(2 * SECOND);
        }

        assertThat(cluster.targets()).containsExactlyElementsOf(before);
        assertThat(opened).hasSize(SUBSET);
    }

    @Test
    void providersThatAreListedTwiceTakeOnePlaceEach() {
        List<Instance> twice = new ArrayList<>(all());
        twice.addAll(all());
        cluster.start(Duration.ZERO);
        source.lists(twice);
        pass(5 * SECOND);
        assertThat(listed()).hasSize(SUBSET).doesNotHaveDuplicates();
        List<Endpoint> before = listed();

        source.lists(all());
        pass(5 * SECOND);

        assertThat(listed()).containsExactlyElementsOf(before);
        assertThat(opened).hasSize(SUBSET);
    }

    @Test
    void oneAddressUnderTwoNamesIsTwoProvidersAndBothAreUsed() {
        cluster.start(Duration.ZERO);
        source.lists(
                Instance.of(new Endpoint("10.0.0.1", 20880, "a.example")),
                Instance.of(new Endpoint("10.0.0.1", 20880, "b.example")));
        pass(SECOND);

        assertThat(new HashSet<>(picks(100))).hasSize(2);
        source.lists(Instance.of(new Endpoint("10.0.0.1", 20880, "b.example")));
        pass(SECOND);
        assertThat(pick().endpoint().name()).isEqualTo("b.example");
    }

    @Test
    void providerWhoseProtocolChangesIsNoLongerUsedAndIsUsedAgainLater() {
        Instance other = Instance.of(new Endpoint("10.0.0.1", 20880, "10.0.0.1", "tri"));
        Instance same = Instance.of(new Endpoint("10.0.0.1", 20880, "10.0.0.1", "dubbo"));
        cluster.start(Duration.ZERO);
        for (int i = 0; i < 5; i++) {
            source.lists(instance(0), same);
            pass(2 * SECOND);
            assertThat(cluster.targets()).hasSize(2);
            source.lists(instance(0), other);
            pass(2 * SECOND);
            assertThat(listed()).containsExactly(instance(0).endpoint());
        }

        assertThat(opened).hasSize(2);
    }

    @Test
    void weightsThatChangeToZeroAndBackReopenNothing() {
        start(3);
        pass(2 * SECOND);
        for (int i = 0; i < 10; i++) {
            source.lists(each(List.of(instances(3)), attributes -> attributes.withWeight(0)));
            pass(2 * SECOND);
            assertThat(new HashSet<>(picks(200))).as("all weights are 0").hasSize(3);
            source.lists(new Instance(instance(0).endpoint(), Attributes.ofWeight(0)), instance(1), instance(2));
            pass(2 * SECOND);
            assertThat(picks(200))
                    .noneMatch(target -> target.endpoint().equals(instance(0).endpoint()));
            source.lists(instances(3));
            pass(2 * SECOND);
            assertThat(new HashSet<>(picks(200))).hasSize(3);
        }

        assertThat(opened).hasSize(3);
    }

    @Test
    void membersWhoseWeightBecomesZeroGiveTheirPlacesToOthers() {
        start(MANY);
        pass(5 * SECOND);
        Set<Endpoint> members = new HashSet<>(listed());
        List<Instance> drained = all().stream()
                .map(each -> members.contains(each.endpoint())
                        ? new Instance(each.endpoint(), Attributes.ofWeight(0))
                        : each)
                .toList();

        source.lists(drained);
        pass(5 * SECOND);
        assertThat(listed()).hasSize(SUBSET).doesNotContainAnyElementsOf(members);
        source.lists(all());
        pass(5 * SECOND);

        assertThat(new HashSet<>(listed())).isEqualTo(members);
        assertThat(opened).as("the first connections were kept").hasSize(2 * SUBSET);
    }

    @Test
    void zonesThatAlternateKeepTheConnections() {
        Cluster zoned =
                parts.cluster("Orders", List.of(), "dubbo", source, nodes, ClusterSettings.DEFAULT.withZone("near"));
        zoned.start(Duration.ZERO);
        for (int i = 0; i < 20; i++) {
            int round = i;
            source.lists(IntStream.range(0, MANY)
                    .mapToObj(n -> new Instance(
                            instance(n).endpoint(), Attributes.DEFAULT.withZone(n % 2 == round % 2 ? "near" : "far")))
                    .toList());
            timer.move(5 * SECOND);
            assertThat(zoned.targets()).hasSize(SUBSET);
            assertThat(zoned.targets().stream()
                            .filter(target -> target.attributes().zone().equals("near")))
                    .hasSize(SUBSET - SUBSET / 10);
        }

        assertThat(opened).hasSize(2 * (SUBSET - SUBSET / 10));
    }

    @Test
    void listsThatAlternateBetweenTwoSetsOfAddressesLoseNoCall() {
        cluster.start(Duration.ZERO);
        source.lists(instance(0), instance(1));
        pass(SECOND);
        for (int i = 0; i < 100; i++) {
            source.lists(i % 2 == 0 ? List.of(instance(2), instance(3)) : List.of(instance(0), instance(1)));
            timer.move(500 * TICK);
            assertThat(pick().isUsable()).isTrue();
        }

        assertThat(opened).hasSize(4);
    }

    @Test
    void restartOfAllProvidersOfALongListIsOverWithinASecondOfTheirReturn() {
        start(MANY);
        pass(60 * SECOND);
        for (long down : new long[] {2, 8, 45, 300}) {
            available(false);
            pass(down * SECOND);
            available(true);

            long began = now;
            while (!pick().isUsable()) {
                timer.move(100 * TICK);
            }

            assertThat(now - began).as("after %d s", down).isLessThanOrEqualTo(SECOND);
            pass(90 * SECOND);
            assertThat(cluster.targets()).hasSize(SUBSET).allMatch(Target::isUsable);
            assertThat(cluster.report(now).passedOver()).isZero();
        }
    }

    @Test
    void providersThatAcceptConnectionsAndCloseThemAtOnceGetFewCallsWhileOthersAreConnected() {
        start(10);
        pass(40 * SECOND);
        int calls = 0;
        int failed = 0;
        for (int i = 0; i < 6_000; i++) {
            for (int bad = 0; bad < 3; bad++) {
                peer(bad).available = i % 10 == bad; // Each connection lasts 10 ms.
                peer(bad).times += i % 10 == bad ? 1 : 0;
            }
            timer.move(10 * TICK);
            Target target = pick();
            boolean isBad = List.of(0, 1, 2).stream()
                    .anyMatch(bad -> target.node().link().opened() == peer(bad));
            call(target, isBad ? Outcome.FAILED : Outcome.ANSWERED);
            calls++;
            failed += isBad ? 1 : 0;
        }

        assertThat(100.0 * failed / calls).isLessThan(1);
    }

    @Test
    void membersThatCloseEachConnectionWithoutAnyDataAreReplaced() {
        start(MANY);
        pass(5 * SECOND);
        List<Endpoint> members = listed();
        for (int i = 0; i < 200; i++) {
            boolean isOpen = i % 2 == 0;
            members.forEach(member -> {
                peers.get(member).heard = false;
                peers.get(member).available = isOpen;
                peers.get(member).times += isOpen ? 1 : 0;
            });
            pass(200 * TICK);
        }

        assertThat(pick().isUsable()).isTrue();
        assertThat(listed()).hasSize(SUBSET).doesNotContainAnyElementsOf(members);
    }

    @Test
    void tagsThatAllProvidersLoseAndGetAgainAreFollowed() {
        start(MANY);
        pass(5 * SECOND);
        for (int i = 0; i < 5; i++) {
            source.lists(each(all(), attributes -> attributes.withTags(Map.of(Attributes.TAG, "gray"))));
            passWithTag(2 * SECOND, "gray");
            assertThat(cluster.pick("get", 0, "gray", true, null, now).isUsable())
                    .isTrue();
            assertThatThrownBy(this::pick).hasMessageContaining("no provider of Orders may take the call");
            source.lists(all());
            pass(2 * SECOND);
            assertThat(pick().isUsable()).isTrue();
        }

        assertThat(opened).hasSize(SUBSET);
    }

    private void passWithTag(long nanos, String tag) {
        for (long until = now + nanos; now < until; ) {
            timer.move(100 * TICK);
            cluster.pick("get", 0, tag, true, null, now);
        }
    }

    @Test
    void listThatGrowsAndShrinksAcrossTheSizeOfASubsetKeepsItsMembers() {
        start(SUBSET + 10);
        pass(5 * SECOND);
        for (int i = 0; i < 20; i++) {
            source.lists(instances(i % 2 == 0 ? SUBSET - 10 : SUBSET + 10));
            pass(2 * SECOND);
            assertThat(cluster.targets())
                    .hasSize(i % 2 == 0 ? SUBSET - 10 : SUBSET)
                    .allMatch(Target::isUsable);
        }

        assertThat(opened).hasSizeLessThanOrEqualTo(SUBSET + 10);
    }

    @Test
    void replacedMemberWhoseAttributesChangeStaysReplaced() {
        start(MANY);
        pass(5 * SECOND);
        Endpoint dead = listed().get(0);
        peers.get(dead).available = false;
        pass(40 * SECOND);
        assertThat(listed()).doesNotContain(dead);

        for (int i = 1; i < 5; i++) {
            int weight = i;
            source.lists(each(all(), attributes -> attributes.withWeight(weight)));
            pass(2 * SECOND);
        }

        assertThat(listed()).hasSize(SUBSET).doesNotContain(dead);
        assertThat(cluster.report(now).passedOver()).isEqualTo(1);
    }

    @Test
    void rulesThatComeAndGoWhileMembersAreReplacedKeepTheReplacements() {
        start(MANY);
        pass(5 * SECOND);
        Endpoint dead = listed().get(0);
        peers.get(dead).available = false;
        pass(40 * SECOND);
        for (int i = 0; i < 6; i++) {
            cluster.rule(
                    i % 2 == 0
                            ? new Scripts(Map.of(), Map.of(instance(i).endpoint(), 7), List.of(), "put")
                            : Rules.NONE);
            pass(2 * SECOND);
            assertThat(listed()).doesNotContain(dead);
            assertThat(cluster.targets()).hasSize(SUBSET).allMatch(Target::isUsable);
        }

        peers.get(dead).available = true;
        pass(40 * SECOND);
        assertThat(listed()).contains(dead);
    }
}
