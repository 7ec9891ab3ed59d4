package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Outcome;
import tern.rpc.endpoint.Rules;

/** Tests how a cluster applies traffic rules and load balancing settings. */
class ClusterRulesTest extends SimulatedCluster {

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
        timer.move(4 * SECOND); // the longest pause between a slow answer and the next probe
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
        pass(4 * SECOND); // the longest pause between a failure and a probe

        assertThat(cluster.takeProbe("get", "", false, now)).isNull();
        assertThat(cluster.takeProbe("get", "gray", false, now))
                .isSameAs(cluster.targets().get(0));
    }

    @Test
    void clientThatMakesFewCallsSendsNoFurtherCopyWhileOneIsUnanswered() {
        start(3);
        pass(SECOND);
        for (Target target : cluster.targets()) {
            IntStream.range(0, 50).forEach(i -> call(target, Outcome.ANSWERED));
        }
        Target failing = cluster.targets().get(0);
        call(failing, Outcome.FAILED);
        pass(4 * SECOND);
        assertThat(cluster.takeProbe("get", "", false, now)).isSameAs(failing);
        failing.node().beginCopy();

        pass(10 * SECOND);
        assertThat(cluster.takeProbe("get", "", false, now)).isNull();

        IntStream.range(0, 100).forEach(i -> call(cluster.targets().get(1), Outcome.ANSWERED));
        pass(SECOND);
        assertThat(cluster.takeProbe("get", "", false, now)).isSameAs(failing);
    }

    @Test
    void missingAnswerToACopyDoesNotDelayTheProbesOfAnotherProvider() {
        start(5);
        pass(SECOND);
        for (Target target : cluster.targets()) {
            IntStream.range(0, 50).forEach(i -> call(target, Outcome.ANSWERED));
        }
        Target lost = cluster.targets().get(0);
        Target other = cluster.targets().get(1);
        // The provider "lost" has a higher cost than "other", because more of its calls failed.
        IntStream.range(0, 3).forEach(i -> call(lost, Outcome.FAILED));
        call(other, Outcome.FAILED);
        pass(4 * SECOND);
        assertThat(cluster.takeProbe("get", "", false, now)).isSameAs(lost);
        lost.node().beginCopy();

        pass(5 * SECOND);
        assertThat(cluster.takeProbe("get", "", false, now)).isSameAs(other);
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
    void disabledProvidersAreLeftOutEvenIfAllProvidersThatAreNoLongerListedAreDisabled() {
        start(4);
        timer.move(SECOND);
        source.lists();
        timer.move(SECOND);
        assertThat(listed()).hasSize(4);

        List<Endpoint> missing =
                IntStream.range(1, 4).mapToObj(i -> instance(i).endpoint()).toList();
        source.listener.accept(EndpointSnapshot.heard(List.of(instance(0)), Instant.EPOCH)
                .withRules(new Scripts(Map.of(), Map.of(), missing, "")));
        timer.move(SECOND);

        assertThat(listed()).containsExactly(instance(0).endpoint());
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
    void rulesOfTheSourceWinOverOwnRulesThatYield() {
        start(2);
        rule(Scripts.EMPTY); // with an empty rule, the source's rules set a timeout for one method

        cluster.rule(new Rules() {
            @Override
            public Duration timeout(String method) {
                return Duration.ofSeconds(7);
            }

            @Override
            public boolean yieldsToSource() {
                return true;
            }

            @Override
            public String toString() {
                return "changed settings";
            }
        });

        assertThat(cluster.timeLimit("get")).hasToString("100 ms (the scripts)");
        assertThat(cluster.timeLimit("put")).hasToString("7000 ms (changed settings)");
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
            assertThat(lines.all()).noneMatch(line -> line.contains("lists all used providers again"));
        }
    }

    private Cluster balanced(String name, Balancer.Factory factory) {
        Cluster made = parts.cluster(
                "Orders",
                List.of(),
                "dubbo",
                source,
                nodes,
                ClusterSettings.DEFAULT.withPolicy(new NamedPolicy(name, factory)));
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

            assertThatCode(() -> made.ended(picked, "get", "", false, Outcome.ANSWERED, 1))
                    .doesNotThrowAnyException();
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

    /** Rules that let a provider with a tag also take calls without a tag. */
    private record Lenient(String loadBalancing) implements Rules {

        @Override
        public boolean takesCallsWithoutTag(Instance provider) {
            return true;
        }
    }

    private void listGray(Rules rules) {
        Instance gray =
                new Instance(instance(1).endpoint(), Attributes.DEFAULT.withTags(Map.of(Attributes.TAG, "gray")));
        source.listener.accept(EndpointSnapshot.heard(List.of(instance(0), gray), Instant.EPOCH)
                .withRules(rules));
        timer.move(2_000 * TICK);
    }

    private Set<Endpoint> picked(String tag) {
        return IntStream.range(0, 200)
                .mapToObj(i -> cluster.pick("get", 0, tag, false, null, now).endpoint())
                .collect(Collectors.toSet());
    }

    @Test
    void providerWithATagMayTakeCallsWithoutOneIfRulesSaySo() {
        start(2);
        listGray(new Lenient(""));

        assertThat(picked(""))
                .containsExactlyInAnyOrder(instance(0).endpoint(), instance(1).endpoint());
        assertThat(picked("gray")).containsExactly(instance(1).endpoint());
        assertThat(picked("other")).containsExactly(instance(0).endpoint());

        cluster.rule(Scripts.EMPTY);
        assertThat(picked("")).hasSize(2);
    }

    @Test
    void providerWhoseTagIsTakenAwayByRulesGetsNoCalls() {
        start(2);
        listGray(new Rules() {
            @Override
            public List<String> tags(Instance provider) {
                return provider.attributes().tag().isEmpty() ? List.of("") : List.of();
            }

            @Override
            public String toString() {
                return "a test";
            }
        });

        assertThat(picked("")).containsExactly(instance(0).endpoint());
        assertThat(picked("gray")).containsExactly(instance(0).endpoint());
        assertThatCode(() -> cluster.ended(cluster.targets().get(1), "get", "", false, Outcome.ANSWERED, TICK))
                .doesNotThrowAnyException();
    }

    @Test
    void loadBalancingOfARuleMayNeedAKey() {
        start(2);
        assertThat(cluster.isChosenByKey()).isFalse();

        listGray(new Lenient(Policies.CONSISTENT_HASH));
        assertThat(cluster.isChosenByKey()).isTrue();
        listGray(new Lenient(""));
        assertThat(cluster.isChosenByKey()).isFalse();
    }

    @Test
    void rulesThatWouldDisableAllProvidersAreNamedOnce() {
        start(2);
        Scripts none = new Scripts(
                Map.of(), Map.of(), List.of(instance(0).endpoint(), instance(1).endpoint()), "");
        try (LoggedLines lines = new LoggedLines()) {
            for (int i = 0; i < 6; i++) {
                source.listener.accept(EndpointSnapshot.heard(List.of(instances(1 + i % 2)), Instant.EPOCH)
                        .withRules(none));
                timer.move(2_000 * TICK);
            }

            assertThat(lines.all())
                    .filteredOn(line -> line.contains("would disable all"))
                    .hasSize(1);
        }
    }

    private Cluster recorded(List<Balancer> picked, List<Balancer> told) {
        Cluster made = parts.cluster(
                "Stock",
                List.of(),
                "dubbo",
                source,
                nodes,
                ClusterSettings.DEFAULT.withPolicy(candidates -> new Balancer() {
                    @Override
                    public Candidate pick(long key, @Nullable Candidate excluded, long nowNanos) {
                        picked.add(this);
                        return candidates.get(candidates.size() - 1);
                    }

                    @Override
                    public void ended(Candidate ended, Outcome outcome, long tookNanos) {
                        told.add(this);
                    }
                }));
        made.start(Duration.ZERO);
        return made;
    }

    @Test
    void balancerThatPickedATaggedProviderForACallWithoutATagIsNotifiedOfTheEnd() {
        List<Balancer> picked = new ArrayList<>();
        List<Balancer> told = new ArrayList<>();
        Cluster made = recorded(picked, told);
        listGray(new Lenient(""));

        Target target = made.pick("get", 0, "", false, null, now);
        made.ended(target, "get", "", false, Outcome.ANSWERED, 1);

        assertThat(target.endpoint()).isEqualTo(instance(1).endpoint());
        assertThat(told).hasSize(1).isEqualTo(picked);
    }

    /** Rules that differ in their timeout but not in their text. */
    private record Numbered(int number) implements Rules {

        @Override
        public Duration timeout(String method) {
            return Duration.ofMillis(number);
        }

        @Override
        public String toString() {
            return "a test";
        }
    }

    @Test
    void rulesWithTheSameTextAreUsedButNotLoggedAgain() {
        start(2);
        try (LoggedLines lines = new LoggedLines()) {
            rule(new Numbered(5));
            rule(new Numbered(6));

            assertThat(cluster.timeLimit("get")).hasToString("6 ms (a test)");
            assertThat(lines.all())
                    .filteredOn(line -> line.contains("the rules are now"))
                    .hasSize(1);
        }
    }

    @Test
    void balancerThatPickedIsNotifiedOfTheEndAlsoIfRulesDependOnTheMethod() {
        List<Balancer> picked = new ArrayList<>();
        List<Balancer> told = new ArrayList<>();
        Cluster made = recorded(picked, told);
        rule(new Scripts(Map.of(), Map.of(), List.of(), "put"));

        Target target = made.pick("get", 0, "", false, null, now);
        made.ended(target, "get", "", false, Outcome.ANSWERED, 1);

        assertThat(told).hasSize(1).isEqualTo(picked);
    }
}
