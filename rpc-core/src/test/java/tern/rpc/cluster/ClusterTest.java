package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Outcome;

/** Tests which providers a cluster connects to, and which providers it chooses for calls. */
class ClusterTest extends SimulatedCluster {

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
    @Timeout(60)
    void onlyTheFirstReferenceWaitsForASourceThatDoesNotAnswer() {
        Cluster other = cluster(new Scripted("shop"));
        cluster.start(Duration.ofMillis(1));

        other.start(Duration.ofDays(1));

        assertThat(other.targets()).isEmpty();
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

    /** The provider may still be running, for example if only its connection to the registry was lost. */
    @Test
    void streamAtAProviderThatWasRemovedEndsNormally() {
        start(3);
        peer(2).streams = 1;
        source.lists(instances(2));
        timer.move(3_600 * SECOND);
        assertThat(peer(2).closed).isFalse();

        peer(2).streams = 0;
        timer.move(SECOND);
        assertThat(peer(2).closed).isTrue();
    }

    @Test
    void providersOfAnEmptyListAreNotGivenUpForAShortSilence() {
        start(3);
        cluster.targets().forEach(target -> call(target, Outcome.ANSWERED));
        timer.move(2 * SECOND);
        List<Target> before = cluster.targets();
        before.forEach(target -> target.node().begin(now));
        timer.move(SECOND / 2); // no provider answers during this time, as after a pause of this process
        assertThat(before).allMatch(target -> target.node().isStalled(now));

        source.lists();
        assertThat(listed()).hasSize(3);
        timer.move(SECOND);
        before.get(0).node().end(Outcome.ANSWERED, TICK, now, usual);
        timer.move(2 * SECOND);

        assertThat(cluster.targets()).containsExactly(before.get(0));
    }

    @Test
    void callWithoutAUsableProviderAsksForTheListAgain() {
        cluster.start(Duration.ZERO);
        for (int providers = 1; providers <= 2; providers++) {
            source.lists(instances(providers));
            source.refreshes = 0;
            timer.move(2 * SECOND);
            pick();
            assertThat(source.refreshes).isZero();

            for (int i = 0; i < providers; i++) {
                peer(i).available = false;
            }
            pick();
            assertThat(source.refreshes).isEqualTo(1);
            for (int i = 0; i < providers; i++) {
                peer(i).available = true;
            }
        }
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
    void providerThatWasDelistedBeforeItsTurnIsConnectedWhenItIsListedAgain() {
        cluster.start(Duration.ZERO);
        source.lists(instances(60));
        source.lists(instances(59));
        timer.move(3 * SECOND);
        assertThat(opened).hasSize(59).doesNotContain(instance(59).endpoint());

        source.lists(instances(60));
        timer.move(SECOND);

        assertThat(opened).hasSize(60).contains(instance(59).endpoint());
    }

    @Test
    void providerThatIsListedAgainBeforeItsTurnIsConnectedOnce() {
        cluster.start(Duration.ZERO);
        source.lists(instances(60));
        source.lists(instances(59));
        source.lists(instances(60));
        timer.move(3 * SECOND);

        assertThat(opened).hasSize(60).doesNotHaveDuplicates();
    }

    @Test
    void providerWhoseConnectionCouldNotBeCreatedIsTriedAgain() {
        uncreatable.add(instance(30).endpoint());
        cluster.start(Duration.ZERO);
        source.lists(instances(60));
        timer.move(3 * SECOND);
        assertThat(opened).hasSize(59);

        uncreatable.clear();
        timer.move(2 * SECOND);

        assertThat(opened).hasSize(60).doesNotHaveDuplicates();
    }

    @Test
    void providerWhoseConnectionCannotBeCreatedKeepsNoOtherFromCalls() {
        uncreatable.add(instance(1).endpoint());
        start(3);
        for (int call = 0; call < 20; call++) {
            assertThat(pick().endpoint()).isNotEqualTo(instance(1).endpoint());
        }
        assertThat(opened).hasSize(2);

        uncreatable.clear();
        timer.move(2 * SECOND);

        assertThat(opened).hasSize(3).doesNotHaveDuplicates();
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

    /** The test uses the allocated bytes as an upper bound on the memory that the provider list retains. */
    @Test
    void tenThousandProvidersTakeAtMost250BytesEach() {
        cluster.start(Duration.ZERO);
        source.lists(instances(200)); // Applying this list loads classes and opens connections before the measurement.
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
        for (int i = 0; i < 50; i++) { // The loop loads classes before the measurement.
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
                .hasMessageContaining("no address of Orders is known; its source is shop, whose list is empty since")
                .hasMessageContaining("are all gone");
        assertThat(source.refreshes).isEqualTo(1);
    }

    @Test
    void firstProviderOfAListThatWasEmptyGetsItsShareOnly() {
        start(10);
        timer.move(60 * SECOND);
        source.lists();
        timer.move(60 * SECOND);
        source.lists(instances(1));

        int[] calls = new int[2];
        for (int i = 0; i < 1_000; i++) {
            calls[pick().endpoint().equals(instance(0).endpoint()) ? 0 : 1]++;
        }
        assertThat(calls[0]).isBetween(40, 250);
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
        peer(0).available = true;
        peer(1).available = true;
        timer.move(31_000 * TICK);
        assertThat(listed()).hasSize(2);
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

    /** Opens a provider's port, and returns the time until the provider gets its next call. */
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

    @Test
    void sourceThatDoesNotAnswerInTimeMustReportItsCurrentAddresses() {
        cluster.start(Duration.ofNanos(1));

        assertThat(source.refreshes).isEqualTo(1);
    }

    @Test
    void providersOfTheOwnZoneAreConnectedFirstAlsoIfTheyAreFewerThanTheSubset() {
        Cluster zoned = parts.cluster(
                "Stock",
                List.of(),
                "dubbo",
                source,
                nodes,
                ClusterSettings.DEFAULT.withZone("near").withSubset(5));
        zoned.start(Duration.ZERO);
        source.lists(IntStream.range(0, 40)
                .mapToObj(i ->
                        new Instance(instance(i).endpoint(), Attributes.DEFAULT.withZone(i % 10 == 3 ? "near" : "far")))
                .toList());

        assertThat(zoned.targets()).hasSize(5);
        assertThat(zoned.targets().stream()
                        .filter(target -> target.attributes().zone().equals("near")))
                .hasSize(4);
    }

    @Test
    void connectionOfAProviderThatWasListedTwiceIsClosedWhenItIsRemoved() {
        cluster.start(Duration.ZERO);
        source.lists(instance(0), instance(0), instance(1), instance(2));
        source.lists(instance(1), instance(2));
        timer.move(40 * SECOND);

        assertThat(listed()).hasSize(2);
        assertThat(peer(0).closed).isTrue();
    }

    private static Instance gray(int number) {
        return new Instance(instance(number).endpoint(), Attributes.DEFAULT.withTags(Map.of(Attributes.TAG, "gray")));
    }

    private List<Target> failing(int providers) {
        pass(SECOND);
        List<Target> failing = cluster.targets().subList(0, providers);
        failing.forEach(target -> IntStream.range(0, 5).forEach(i -> call(target, Outcome.FAILED)));
        timer.move(100 * TICK);
        pick();
        return failing;
    }

    @Test
    void ejectionsAreCountedAmongTheProvidersThatMayTakeTheCall() {
        cluster.start(Duration.ZERO);
        source.lists(IntStream.range(0, 10)
                .mapToObj(i -> i < 4 ? instance(i) : gray(i))
                .toList());

        assertThat(failing(3))
                .allMatch(target -> target.node().isEjected(now))
                .noneMatch(target -> target.isAvoided(now));
    }

    @Test
    void ejectionsAreObeyedWhileHalfOfTheProvidersAreWell() {
        start(4);

        assertThat(failing(2)).allMatch(target -> target.isAvoided(now));
    }

    @Test
    void callsReachAllProvidersWhenAllAreEjectedAndRecoveredOnesGetThemFirst() {
        start(10);
        List<Target> failing = failing(10);

        assertThat(failing).allMatch(target -> target.node().isEjected(now));
        assertThat(picks(2_000)).containsAll(failing);

        Target recovered = failing.get(3);
        call(recovered, Outcome.ANSWERED);
        call(recovered, Outcome.ANSWERED);
        assertThat(recovered.node().isEjected(now)).isFalse();
        assertThat(picks(200).stream().filter(picked -> picked == recovered)).hasSizeGreaterThan(60);
    }

    private List<Target> picks(int count) {
        return IntStream.range(0, count).mapToObj(i -> pick()).toList();
    }
}
