package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Outcome;
import tern.rpc.transport.IdleConnection;

/**
 * Tests how the load balancers distribute calls, and how stable their choices are. No calls are in flight, so all nodes
 * are equally loaded.
 */
class BalancersTest {

    private static final int CALLS = 30_000;

    private final List<Open> connections = new ArrayList<>();
    private final ClusterStatistics statistics = new ClusterStatistics();

    private static final class Open extends IdleConnection {
        int looks; // how many times the balancer has checked whether the connection is available

        Open(Endpoint endpoint) {
            super(endpoint);
        }

        @Override
        public boolean isAvailable() {
            looks++;
            return super.isAvailable();
        }
    }

    private List<Candidate> targets(int... weights) {
        List<Candidate> targets = new ArrayList<>();
        for (int i = 0; i < weights.length; i++) {
            Open open = new Open(new Endpoint("10.0.0." + i, 20880));
            connections.add(open);
            Node node = new Node(
                    open.endpoint(),
                    () -> open,
                    open.endpoint()::toString,
                    new ChangeLog(
                            LoggerFactory.getLogger(BalancersTest.class), () -> 0, new ScheduledThreadPoolExecutor(0)),
                    new NodeCounts(),
                    0);
            node.link().connection();
            targets.add(new Target(node, statistics, () -> 0, Attributes.ofWeight(weights[i])));
        }
        return targets;
    }

    private static double[] shares(Balancer balancer, List<Candidate> targets) {
        int[] counts = new int[targets.size()];
        for (int i = 0; i < CALLS; i++) {
            counts[targets.indexOf(balancer.pick(0, null, 1))]++;
        }
        return Arrays.stream(counts)
                .mapToDouble(count -> (double) count / CALLS)
                .toArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"p2c", "round-robin", "consistent-hash"})
    void callsWithoutAKeyAreSharedByWeight(String policy) {
        List<Candidate> targets = targets(100, 50, 0, 50);

        double[] shares = shares(Policies.named(policy).of(targets), targets);

        assertThat(shares[0]).isBetween(0.45, 0.55);
        assertThat(shares[1]).isBetween(0.2, 0.3);
        assertThat(shares[2]).isZero();
        assertThat(shares[3]).isBetween(0.2, 0.3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"p2c", "round-robin"})
    void fewProvidersWithLargeWeightsAmongManyWithSmallOnesGetTheirShares(String policy) {
        int[] weights = new int[200];
        Arrays.fill(weights, 1);
        Arrays.fill(weights, 0, 10, 100);
        List<Candidate> targets = targets(weights);

        double[] shares = shares(Policies.named(policy).of(targets), targets);

        // The ten providers with large weights have 0.84 of the total weight.
        assertThat(Arrays.stream(shares).limit(10).sum()).isBetween(0.8, 0.88);
    }

    @ParameterizedTest
    @ValueSource(strings = {"p2c", "round-robin", "consistent-hash"})
    void retryGoesToTheFailedProviderRatherThanToOneWithWeightZero(String policy) {
        List<Candidate> targets = targets(100, 0);
        Balancer balancer = Policies.named(policy).of(targets);

        assertThat(balancer.pick(0, targets.get(0), 1)).isNull();
        connections.get(0).available = false;
        assertThat(balancer.pick(0, targets.get(0), 1)).isSameAs(targets.get(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"p2c", "round-robin", "consistent-hash"})
    void providerOfTheOwnZoneWithWeightZeroGetsNoCallsWhileAnotherZoneCanTakeThem(String policy) {
        List<Target> targets =
                targets(0, 0, 100).stream().map(Target.class::cast).toList();
        targets.forEach(target -> target.attributes(
                target.attributes().withZone(targets.indexOf(target) < 2 ? "near" : "far"), false, 0));
        Group group =
                new Group(targets, ClusterSettings.DEFAULT.withZone("near").withPolicy(Policies.named(policy)));

        assertThat(IntStream.range(0, 500).mapToObj(i -> group.pick(0, null, 1)))
                .containsOnly(targets.get(2));
        connections.get(2).available = false;
        assertThat(group.pick(0, null, 1)).isIn(targets.get(0), targets.get(1));
    }

    @Test
    void roundedWeightsNeverGiveCallsToWeightZero() {
        for (int heavy = 1; heavy < 200; heavy++) {
            List<Candidate> targets = targets(0, heavy, 3, 7, 11, heavy * 13, 17);
            WeightedChoice choice = new WeightedChoice(targets);

            Random random = new Random(heavy);
            assertThat(IntStream.range(0, 200).map(i -> choice.draw(random.nextLong())))
                    .doesNotContain(0);
        }
    }

    /**
     * Makes calls whose durations are exponentially distributed with a mean of 10 ms. Returns each provider's share of
     * the calls.
     *
     * @param atOnce the number of calls in flight
     * @param slowest how many times slower provider 0 becomes after a sixth of the calls; these first calls are not
     *     counted
     */
    private static double[] sharesOfVaryingCalls(int atOnce, double slowest, List<Candidate> targets) {
        // The constructor of a group sets the weights of its targets.
        new Group(targets.stream().map(Target.class::cast).toList(), ClusterSettings.DEFAULT);
        Random random = new Random(7);
        Balancer balancer = new PowerOfTwoChoices(targets, () -> random);
        UsualTime usual = new UsualTime();
        record Call(Target target, long began, long ends) {}
        PriorityQueue<Call> running = new PriorityQueue<>(Comparator.comparingLong(Call::ends));
        int[] counts = new int[targets.size()];
        long now = 1;
        for (int i = 0; i < CALLS; i++) {
            if (running.size() == atOnce) {
                Call ended = running.remove();
                now = ended.ends();
                ended.target().node().end(Outcome.ANSWERED, now - ended.began(), now, usual);
            }
            now += Duration.ofMillis(1).toNanos();
            Target picked = (Target) balancer.pick(0, null, now);
            int index = targets.indexOf(picked);
            counts[index] += i < CALLS / 6 ? 0 : 1;
            double mean = 10e6 * (index == 0 && i >= CALLS / 6 ? slowest : 1);
            picked.node().begin(now);
            running.add(new Call(picked, now, now + (long) (-Math.log(1 - random.nextDouble()) * mean)));
        }
        return Arrays.stream(counts)
                .mapToDouble(count -> (double) count / (CALLS - CALLS / 6))
                .toArray();
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1:99",
        "1, 10:90",
        "1, 50:50",
        "1, 1:99:99",
        "2, 1:99",
        "2, 10:90",
        "4, 1:99",
        "4, 10:90",
        "4, 1:99:99",
        "20, 1:99",
        "20, 10:90",
        "50, 10:90"
    })
    void sharesFollowTheWeightsWhileResponseTimesVary(int atOnce, String weights) {
        int[] parts =
                Arrays.stream(weights.split(":")).mapToInt(Integer::parseInt).toArray();
        List<Candidate> targets = targets(parts);

        double[] shares = sharesOfVaryingCalls(atOnce, 1, targets);

        double expected = (double) parts[0] / Arrays.stream(parts).sum();
        assertThat(shares[0]).isCloseTo(expected, withinPercentage(20));
    }

    @ParameterizedTest
    @CsvSource({"1, 50:50", "1, 99:1", "4, 50:50", "1, 100:100:100"})
    void slowNodeGetsAlmostNothingAlsoIfItsWeightIsHigh(int atOnce, String weights) {
        List<Candidate> targets = targets(
                Arrays.stream(weights.split(":")).mapToInt(Integer::parseInt).toArray());

        assertThat(sharesOfVaryingCalls(atOnce, 10, targets)[0]).isLessThan(0.03);
    }

    @Test
    void threeFailingProvidersOfTenGetAlmostNothing() {
        List<Candidate> targets = targets(100, 100, 100, 100, 100, 100, 100, 100, 100, 100);
        Random random = new Random(7);
        Balancer balancer = new PowerOfTwoChoices(targets, () -> random);
        for (Candidate failing : targets.subList(0, 3)) {
            Node node = ((Target) failing).node();
            node.begin(1);
            node.end(Outcome.FAILED, 1, 1, new UsualTime());
        }

        double[] shares = shares(balancer, targets);

        assertThat(shares[0] + shares[1] + shares[2]).isLessThan(0.001);
    }

    @ParameterizedTest
    @ValueSource(strings = {"p2c", "round-robin", "consistent-hash"})
    void providerThatIsNotUsableGetsNothing(String policy) {
        List<Candidate> targets = targets(100, 100, 100);
        connections.get(1).available = false;

        assertThat(shares(Policies.named(policy).of(targets), targets)[1]).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"p2c", "round-robin", "consistent-hash"})
    void providerOfTheFailedAttemptIsNotPickedAgain(String policy) {
        List<Candidate> targets = targets(100, 100);
        Balancer balancer = Policies.named(policy).of(targets);

        assertThat(IntStream.range(0, 1_000).mapToObj(i -> balancer.pick(i, targets.get(0), 1)))
                .containsOnly(targets.get(1));
        connections.get(1).available = false;
        assertThat(balancer.pick(7, targets.get(0), 1)).isNull();
    }

    @Test
    void roundRobinTakesOneAfterTheOther() {
        List<Candidate> targets = targets(1, 1, 1);
        Balancer balancer = Policies.named("round-robin").of(targets);

        List<Candidate> picked =
                IntStream.range(0, 6).mapToObj(i -> balancer.pick(0, null, 1)).collect(Collectors.toList());

        assertThat(picked.subList(0, 3)).containsExactlyInAnyOrderElementsOf(targets);
        assertThat(picked.subList(3, 6)).isEqualTo(picked.subList(0, 3));
    }

    @Test
    void sameKeyGoesToTheSameProviderAndARemovalMovesOnlyItsKeys() {
        List<Candidate> targets = targets(100, 100, 100, 100, 100);
        Balancer all = Policies.named("consistent-hash").of(targets);
        Balancer less = Policies.named("consistent-hash").of(targets.subList(0, 4));

        for (int i = 0; i < 1_000; i++) {
            long key = Hashes.ofKey("user-" + i);
            Candidate before = all.pick(key, null, 1);
            assertThat(all.pick(key, null, 1)).isSameAs(before);
            if (before != targets.get(4)) {
                assertThat(less.pick(key, null, 1)).isSameAs(before);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"100:100:100:100, 100", "10:200:30:60, 70", "100:100:100, 1"})
    void addedProviderGetsItsShareOfTheKeysAndNoOtherKeyMoves(String weights, int added) {
        int[] parts = Arrays.stream((weights + ":" + added).split(":"))
                .mapToInt(Integer::parseInt)
                .toArray();
        List<Candidate> targets = targets(parts);
        Candidate last = targets.get(parts.length - 1);
        Balancer before = Policies.named("consistent-hash").of(targets.subList(0, parts.length - 1));
        Balancer after = Policies.named("consistent-hash").of(targets);

        int moved = 0;
        for (int i = 0; i < CALLS; i++) {
            long key = Hashes.ofKey("user-" + i);
            Candidate picked = after.pick(key, null, 1);
            if (picked == last) {
                moved++;
            } else {
                assertThat(picked).isSameAs(before.pick(key, null, 1));
            }
        }
        double share = (double) added / Arrays.stream(parts).sum();
        assertThat((double) moved / CALLS).isCloseTo(share, within(0.02));
    }

    @Test
    void changedWeightMovesKeysOnlyToOrFromTheProviderThatHasIt() {
        List<Candidate> targets = targets(100, 100, 100, 100);
        Balancer before = Policies.named("consistent-hash").of(targets);
        Target changed = (Target) targets.get(2);
        List<Candidate> owners = LongStream.range(0, CALLS)
                .mapToObj(i -> before.pick(Hashes.ofKey(i), null, 1))
                .toList();

        changed.attributes(Attributes.ofWeight(50), false, 0);
        Balancer after = Policies.named("consistent-hash").of(targets);

        for (int i = 0; i < CALLS; i++) {
            Candidate picked = after.pick(Hashes.ofKey((long) i), null, 1);
            assertThat(picked == owners.get(i) || owners.get(i) == changed).isTrue();
        }
    }

    @Test
    void choiceByKeyExaminesOnlyOneOfManyProviders() {
        List<Candidate> targets =
                targets(IntStream.generate(() -> 100).limit(200).toArray());
        targets.forEach(target ->
                IntStream.range(0, 5).forEach(i -> ((Target) target).node().begin(1)));
        Balancer balancer = Policies.named("consistent-hash").of(targets);
        long key = Hashes.ofKey("user-1");
        balancer.pick(key, null, 1);
        int before = looks();

        balancer.pick(key, null, 2);

        assertThat(looks() - before).isEqualTo(1);
    }

    /** The table of slots in consistent hashing makes the shares slightly uneven. The values are in docs/cluster.md. */
    @Test
    void manyProvidersGetAlmostEqualNumbersOfKeys() {
        int providers = 1_000;
        int keysEach = 200;
        List<Candidate> targets =
                targets(IntStream.generate(() -> 100).limit(providers).toArray());
        Balancer balancer = Policies.named("consistent-hash").of(targets);
        Map<Candidate, Integer> keys = new IdentityHashMap<>();

        for (int key = 1; key <= providers * keysEach; key++) {
            keys.merge(Objects.requireNonNull(balancer.pick(key, null, 1)), 1, Integer::sum);
        }

        double squares = targets.stream()
                .mapToDouble(target -> Math.pow(keys.getOrDefault(target, 0) / (double) keysEach - 1, 2))
                .sum();
        double sampling = 1.0 / keysEach; // The variance that results from random keys, even if all shares are equal.
        assertThat(Math.sqrt(squares / providers - sampling))
                .as("standard deviation")
                .isBetween(0.1, 0.15);
    }

    private int looks() {
        return connections.stream().mapToInt(connection -> connection.looks).sum();
    }

    @Test
    void providerOfAKeyIsPassedOverWhenTheOthersBecomeIdle() {
        List<Candidate> targets = targets(100, 100, 100);
        targets.forEach(target ->
                IntStream.range(0, 50).forEach(i -> ((Target) target).node().begin(1)));
        Balancer balancer = Policies.named("consistent-hash").of(targets);
        long key = Hashes.ofKey("hot");
        Candidate own = balancer.pick(key, null, 1);
        assertThat(balancer.pick(key, null, 1)).isSameAs(own);

        targets.stream()
                .filter(target -> target != own)
                .forEach(target -> IntStream.range(0, 50)
                        .forEach(i -> ((Target) target).node().sentOneWay()));

        assertThat(balancer.pick(key, null, TimeUnit.MILLISECONDS.toNanos(20))).isNotSameAs(own);
    }

    @Test
    void busyProviderOfAKeyIsPassedOver() {
        List<Candidate> targets = targets(100, 100, 100);
        Balancer balancer = Policies.named("consistent-hash").of(targets);
        long key = Hashes.ofKey("hot");
        Target own = (Target) balancer.pick(key, null, 1);
        for (int i = 0; i < 50; i++) {
            own.node().begin(1);
        }

        assertThat(balancer.pick(key, null, 1)).isNotSameAs(own);
    }

    @Test
    void unknownNameOfALoadBalancingIsRefused() {
        assertThatThrownBy(() -> Policies.named("random"))
                .hasMessage("load balancing 'random' is not known; expected one of consistent-hash, p2c, round-robin");
    }

    @Test
    void callsFollowTheRulesOfTags() {
        List<Candidate> made = targets(100, 100, 100);
        List<Target> targets = made.stream().map(Target.class::cast).toList();
        tag(targets.get(0), "gray");
        tag(targets.get(1), "gray|eu");
        Routes routes = new Routes(targets, ClusterSettings.DEFAULT);

        assertThat(routes.group("", false).targets()).containsExactly(targets.get(2));
        assertThat(routes.group("gray", false).targets()).containsExactly(targets.get(0));
        assertThat(routes.group("gray|eu", false).targets()).containsExactly(targets.get(1));
        assertThat(routes.group("gray|us", false).targets()).containsExactly(targets.get(0));
        assertThat(routes.group("blue", false).targets()).containsExactly(targets.get(2));
        assertThat(routes.group("blue", true)).isNull();
    }

    @Test
    void callWithoutATagNeverGoesToAProviderWithOne() {
        List<Target> targets = targets(100).stream().map(Target.class::cast).toList();
        tag(targets.get(0), "gray");

        assertThat(new Routes(targets, ClusterSettings.DEFAULT).group("", false))
                .isNull();
    }

    private static void tag(Target target, String tag) {
        target.attributes(Attributes.DEFAULT.withTags(Map.of(Attributes.TAG, tag)), false, 0);
    }

    @Test
    void providersOfTheOwnZoneComeFirstAndOtherZonesTakeTheRemainingCalls() {
        List<Target> targets =
                targets(100, 100, 100, 100).stream().map(Target.class::cast).toList();
        targets.forEach(target ->
                target.attributes(Attributes.DEFAULT.withZone(targets.indexOf(target) < 2 ? "near" : "far"), false, 0));
        Group group = new Group(targets, ClusterSettings.DEFAULT.withZone("near"));
        Predicate<Candidate> isNear = candidate -> candidate.attributes().zone().equals("near");

        assertThat(picks(group)).allMatch(isNear);

        targets.get(0).node().begin(1);
        targets.subList(0, 2)
                .forEach(target ->
                        IntStream.range(0, 50).forEach(i -> target.node().begin(1)));
        assertThat(picks(group)).noneMatch(isNear);
        connections.subList(0, 2).forEach(connection -> connection.available = false);
        assertThat(picks(group)).noneMatch(isNear);
    }

    private List<Candidate> picks(Group group) {
        return IntStream.range(0, 200).mapToObj(i -> group.pick(0, null, 1)).toList();
    }

    @Test
    void roundRobinStartsAtAnyProvider() {
        List<Candidate> targets = targets(1, 1, 1);

        assertThat(IntStream.range(0, 100)
                        .mapToObj(i -> Policies.named("round-robin").of(targets).pick(0, null, 1)))
                .containsAll(targets);
    }

    @Test
    void zoneWhoseProvidersHaveWeightZeroGivesCallsToOtherZones() {
        List<Target> targets = targets(0, 0, 0, 100, 100, 100, 100, 100).stream()
                .map(Target.class::cast)
                .toList();
        targets.forEach(target -> target.attributes(
                target.attributes().withZone(targets.indexOf(target) < 4 ? "near" : "far"), false, 0));
        Group group = new Group(targets, ClusterSettings.DEFAULT.withZone("near"));

        group.measure(1);

        Set<Candidate> picked = new HashSet<>(picks(group));
        assertThat(picked).contains(targets.get(3)).hasSizeGreaterThan(1);
        assertThat(picked).allMatch(candidate -> candidate.attributes().weight() > 0);
    }
}
