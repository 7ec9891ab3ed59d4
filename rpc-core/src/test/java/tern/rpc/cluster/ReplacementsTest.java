package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.Instance;

/** Tests which providers of a long list replace the members of the subset that cannot be reached. */
class ReplacementsTest extends SimulatedCluster {

    private static final int SUBSET = 100;

    /** Returns the members of the subset (the providers that the client connects to), in the order of their ranks. */
    private static List<Instance> subset(List<Instance> listed) {
        Ranking ranking = new Ranking(1, "");
        ranking.set(listed);
        return ranking.first(SUBSET, Map.of());
    }

    private static List<Instance> subset(int providers) {
        return subset(allOf(providers));
    }

    private static List<Instance> without(int providers, List<Instance> missing) {
        Set<Instance> removed = new HashSet<>(missing);
        return allOf(providers).stream().filter(each -> !removed.contains(each)).toList();
    }

    private static List<Endpoint> endpoints(List<Instance> instances) {
        return instances.stream().map(Instance::endpoint).toList();
    }

    private Peer peer(Endpoint endpoint) {
        return peers.computeIfAbsent(endpoint, Peer::new);
    }

    private void kill(List<Instance> dead) {
        dead.forEach(each -> peer(each.endpoint()).available = false);
    }

    private void revive(List<Instance> living) {
        living.forEach(each -> peer(each.endpoint()).available = true);
    }

    private static List<Instance> allOf(int providers) {
        return List.of(instances(providers));
    }

    /** Makes calls until one finds a connected provider, and returns the time that passed. */
    private long untilAnyIsFound() {
        long began = now;
        while (!pick().isUsable()) {
            timer.move(100 * TICK);
            assertThat(now - began).isLessThan(600 * SECOND);
        }
        return now - began;
    }

    @Test
    void memberThatCouldNotBeConnectedForThirtySecondsIsReplacedByTheNextProvider() {
        List<Instance> dead = subset(300).subList(0, 3);
        kill(dead);
        start(300);
        pass(29 * SECOND);
        List<Target> before = cluster.targets();
        assertThat(listed()).containsExactlyElementsOf(endpoints(subset(300)));

        pass(5 * SECOND);

        assertThat(listed()).containsExactlyElementsOf(endpoints(subset(without(300, dead))));
        assertThat(before.stream().filter(Target::isUsable)).hasSize(97).allMatch(cluster.targets()::contains);
        assertThat(cluster.report(now).passedOver()).isEqualTo(3);
    }

    @Test
    void memberThatLostItsConnectionIsReplacedEvenWithoutCalls() {
        start(300);
        timer.move(100 * SECOND);
        List<Instance> lost = subset(300).subList(0, 3);
        kill(lost);

        timer.move(45 * SECOND);

        assertThat(listed()).containsExactlyElementsOf(endpoints(subset(without(300, lost))));
    }

    @Test
    void memberThatWasAwayForLessThanThirtySecondsStays() {
        start(300);
        pass(10 * SECOND);
        List<Target> before = cluster.targets();
        for (int i = 0; i < 5; i++) {
            kill(subset(300).subList(0, 50));
            pass(28 * SECOND);
            revive(subset(300).subList(0, 50));
            pass(31 * SECOND);
        }

        assertThat(cluster.targets()).isEqualTo(before);
    }

    /** A provider whose connections never last may be a proxy in front of a dead process. */
    @Test
    void memberWhoseConnectionsNeverLastThirtySecondsIsReplaced() {
        start(300);
        pass(100 * SECOND);
        List<Instance> flapping = subset(300).subList(0, 3);
        for (int i = 0; i < 3; i++) {
            kill(flapping);
            pass(2 * SECOND);
            revive(flapping);
            flapping.forEach(each -> peer(each.endpoint()).times++);
            pass(20 * SECOND);
        }

        assertThat(listed()).containsExactlyElementsOf(endpoints(subset(without(300, flapping))));
    }

    @Test
    void fewMembersAreReplacedPerSecondWhileOthersTakeTheCalls() {
        kill(subset(300).subList(0, 60));
        start(300);
        pass(29 * SECOND);
        Set<Endpoint> before = new HashSet<>(listed());
        for (int second = 0; second < 10; second++) {
            pass(SECOND);
            Set<Endpoint> after = new HashSet<>(listed());
            before.removeAll(after);
            assertThat(before).hasSizeLessThanOrEqualTo(10);
            before = after;
        }

        assertThat(cluster.targets()).allMatch(Target::isUsable);
    }

    @Test
    void reachableProviderIsFoundWithinSecondsAlthoughNinetyFivePercentOfTheListAreUnreachable() {
        List<Instance> living =
                IntStream.range(0, 1_000).mapToObj(i -> instance(20 * i)).toList();
        kill(without(20_000, living));
        kill(subset(20_000));
        start(20_000);

        assertThat(untilAnyIsFound()).isLessThan(5 * SECOND);
        assertThat(opened).hasSizeLessThan(20 + 50 * 5);
    }

    @Test
    void callsSucceedOnceOneOfTheFewLivingProvidersOfALongListWasFound() {
        List<Instance> living = List.of(instance(701), instance(1_234), instance(1_999));
        kill(without(2_000, living));
        start(2_000);
        long found = untilAnyIsFound();

        assertThat(opened.size()).isLessThanOrEqualTo((int) (20 + 50 * found / SECOND + 1));
        for (int i = 0; i < 100; i++) {
            timer.move(SECOND);
            assertThat(pick().isUsable()).isTrue();
        }
    }

    @Test
    void allProvidersOfADeadListAreTriedInTurnAtALimitedRate() {
        kill(allOf(500));
        start(500);
        pass(15 * SECOND);
        assertThat(new HashSet<>(opened)).hasSize(500);
        assertThat(opened.size()).isLessThanOrEqualTo(20 + 50 * 15 + 1);
        assertThat(opened.stream().filter(endpoint -> !peer(endpoint).closed))
                .as("members, and providers that would be members")
                .hasSizeLessThanOrEqualTo(2 * SUBSET);

        peer(123).available = true;

        assertThat(untilAnyIsFound()).isLessThan(75 * SECOND);
    }

    @Test
    void deadListIsTriedSlowlyWithoutCalls() {
        kill(allOf(5_000));
        start(5_000);
        timer.move(60 * SECOND);
        int before = opened.size();

        timer.move(60 * SECOND);

        assertThat(opened.size() - before).isLessThanOrEqualTo(10 * 60);
    }

    @Test
    void shortFaultOfAllConnectionsReplacesNoMember() {
        start(300);
        pass(10 * SECOND);
        List<Target> before = cluster.targets();
        kill(allOf(300));
        pass(2 * SECOND);
        revive(allOf(300));
        pass(60 * SECOND);

        assertThat(cluster.targets()).isEqualTo(before);
    }

    @Test
    void replacedMemberReturnsAfterItHasBeenConnectedForThirtySeconds() {
        List<Instance> dead = subset(300).subList(0, 3);
        kill(dead);
        start(300);
        pass(40 * SECOND);
        assertThat(listed()).doesNotContainAnyElementsOf(endpoints(dead));

        revive(dead);
        pass(29 * SECOND);
        assertThat(listed()).doesNotContainAnyElementsOf(endpoints(dead));
        pass(3 * SECOND);

        assertThat(listed()).containsExactlyElementsOf(endpoints(subset(300)));
        assertThat(cluster.report(now).passedOver()).isZero();
    }

    @Test
    void replacedMemberThatFlapsDoesNotReturn() {
        List<Instance> flapping = subset(300).subList(0, 3);
        kill(flapping);
        start(300);
        pass(40 * SECOND);
        List<Target> before = cluster.targets();
        for (int i = 0; i < 20; i++) {
            revive(flapping);
            pass(20 * SECOND);
            kill(flapping);
            pass(5 * SECOND);
        }

        assertThat(cluster.targets()).isEqualTo(before);
    }

    @Test
    void replacedMemberReturnsAtOnceIfNoOtherProviderIsConnected() {
        List<Instance> dead = subset(300).subList(0, 3);
        kill(dead);
        start(300);
        pass(40 * SECOND);

        kill(allOf(300));
        pass(10 * SECOND);
        revive(dead);

        assertThat(untilAnyIsFound()).isLessThanOrEqualTo(SECOND);
    }

    @Test
    void replacedMembersOfATagReturnAtOnceOnlyIfTheirOwnTagIsCutOff() {
        List<Instance> listed = withGray();
        List<Instance> dead = subset(listed.subList(0, 300)).subList(0, 3);
        List<Instance> gray = listed.subList(300, 600);
        List<Instance> deadGray = subset(gray).subList(0, 3);
        kill(dead);
        kill(deadGray);
        cluster.start(Duration.ZERO);
        source.lists(listed);
        pass(40 * SECOND);
        assertThat(listed()).doesNotContainAnyElementsOf(endpoints(dead));
        kill(gray);
        pass(10 * SECOND);

        revive(dead);
        revive(deadGray);
        pass(2 * SECOND);

        assertThat(listed()).doesNotContainAnyElementsOf(endpoints(dead)).containsAll(endpoints(deadGray));
        pass(30 * SECOND);
        assertThat(listed()).containsAll(endpoints(dead));
    }

    /** Returns 300 providers without a tag and 300 providers with the tag gray. */
    private static List<Instance> withGray() {
        return IntStream.range(0, 600)
                .mapToObj(i -> new Instance(
                        instance(i).endpoint(),
                        i < 300 ? Attributes.DEFAULT : Attributes.DEFAULT.withTags(Map.of(Attributes.TAG, "gray"))))
                .toList();
    }

    @Test
    void providerThatTookItsTurnAgainAndIsConnectedStaysWhenTheListChanges() {
        kill(allOf(150));
        start(150);
        pass(120 * SECOND);
        Target back = cluster.targets().get(0);
        peer(back.endpoint()).available = true;

        source.lists(instances(149));
        timer.move(2 * SECOND);

        assertThat(cluster.targets()).contains(back);
        assertThat(pick()).isSameAs(back);
    }

    @Test
    void onlyTheReplacedProvidersThatAreNeededAgainStayConnecting() {
        List<Instance> dead = subset(300).subList(0, 3);
        kill(dead);
        start(300);
        pass(40 * SECOND);
        timer.move(60 * SECOND);
        assertThat(dead).noneMatch(each -> peer(each.endpoint()).closed);

        cluster.close();
        timer.move(60 * SECOND);

        assertThat(opened).allMatch(endpoint -> peer(endpoint).closed);
    }

    @Test
    void providerThatIsListedAgainIsNoLongerPassedOver() {
        List<Instance> dead = subset(300).subList(0, 3);
        kill(dead);
        start(300);
        pass(40 * SECOND);
        source.lists(without(300, dead));
        timer.move(60 * SECOND);
        assertThat(cluster.report(now).passedOver()).isZero();

        source.lists(instances(300));
        timer.move(2 * SECOND);

        assertThat(listed()).containsExactlyElementsOf(endpoints(subset(300)));
    }

    @Test
    void deadProvidersOfATagAreReplacedSoonEvenIfThoseOfOtherTagsAreConnected() {
        List<Instance> listed = withGray();
        kill(subset(listed.subList(300, 600)));
        cluster.start(Duration.ZERO);
        source.lists(listed);
        pass(8 * SECOND);

        assertThat(cluster.pick("get", 0, "gray", true, null, now).isUsable()).isTrue();
        assertThat(cluster.targets()).hasSize(2 * SUBSET);
    }

    @Test
    void providersThatSendNothingAreReplacedAfterThreeSecondsIfNoOtherIsConnected() {
        List<Instance> silent = new ArrayList<>(without(
                2_000, IntStream.range(0, 100).mapToObj(i -> instance(20 * i)).toList()));
        silent.addAll(subset(2_000));
        silent.forEach(each -> peer(each.endpoint()).heard = false);
        start(2_000);

        assertThat(untilAnyIsFound()).isLessThan(10 * SECOND);
    }

    @Test
    void firstAttemptToConnectMayTakeLongerThanThreeSeconds() {
        allOf(300).forEach(each -> {
            peer(each.endpoint()).available = false;
            peer(each.endpoint()).connecting = true;
            peer(each.endpoint()).failure = "";
        });
        start(300);
        pass(20 * SECOND);

        assertThat(listed()).containsExactlyElementsOf(endpoints(subset(300)));
    }

    @Test
    void memberThatAcceptsConnectionsAndNeverAnswersAPingIsReplaced() {
        List<Instance> frozen = subset(300).subList(0, 3);
        frozen.forEach(each -> peer(each.endpoint()).heard = false);
        start(300);

        timer.move(35 * SECOND);

        assertThat(frozen).allMatch(each -> peer(each.endpoint()).probes > 0);
        assertThat(listed()).containsExactlyElementsOf(endpoints(subset(without(300, frozen))));
    }

    @Test
    void changeOfOneInTenThousandProvidersAllocatesLittleWhileMembersAreReplaced() {
        kill(subset(10_000).subList(0, 50));
        List<Instance> all = allOf(10_000);
        cluster.start(Duration.ZERO);
        for (int i = 0; i < 50; i++) { // The loop loads classes before the measurement.
            source.lists(i % 2 == 0 ? all : all.subList(0, 9_999));
            pass(3 * SECOND);
        }
        assertThat(cluster.report(now).passedOver()).isEqualTo(50);
        EndpointSnapshot changed = EndpointSnapshot.heard(all, Instant.EPOCH);

        assertThat(allocatedBytes(() -> source.listener.accept(changed))).isLessThanOrEqualTo(100 * 1024);
        assertThat(cluster.report(now).listed()).isEqualTo(10_000);
    }

    @Test
    void listWithoutFurtherProvidersStaysAsItIs() {
        kill(allOf(50));
        start(50);
        List<Target> before = cluster.targets();
        pass(100 * SECOND);

        assertThat(cluster.targets()).isEqualTo(before);
        assertThat(cluster.report(now).passedOver()).isZero();
    }

    @Test
    void deadListIsLoggedInFewLinesThatCountItsProviders() {
        kill(allOf(1_000));
        try (LoggedLines lines = new LoggedLines()) {
            start(1_000);
            pass(60 * SECOND);

            assertThat(lines.all())
                    .hasSizeLessThanOrEqualTo(4 + 4)
                    .allMatch(line -> line.startsWith("INFO ")
                            && line.contains(" of Orders from shop ")
                            && line.contains("not connected")
                            && line.endsWith(", refused"));
            assertThat(lines.all().get(lines.all().size() - 1)).matches("INFO \\d{2,3} providers .*");
        }
    }
}
