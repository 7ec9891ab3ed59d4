package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;

/** Tests routing rules that choose among more providers than the client connects to. */
class SubsetRulesTest extends SimulatedCluster {

    private static final int MANY = 1_000;
    private static final int SUBSET = 10;

    private final Cluster subset = parts.cluster(
            "Orders",
            List.of("get", "put", "find"),
            "dubbo",
            source,
            nodes,
            ClusterSettings.DEFAULT.withSubset(SUBSET));

    /**
     * Rules that restrict a method to the providers whose addresses have a given suffix.
     *
     * @param ends the suffixes by method; other methods may use all providers
     */
    private record Ends(Map<String, String> ends, boolean isByMethod) implements Rules {

        @Override
        public List<Instance> route(String method, List<Instance> providers) {
            String end = ends.get(method);
            return end == null
                    ? providers
                    : providers.stream()
                            .filter(each -> each.endpoint().host().endsWith(end))
                            .toList();
        }

        @Override
        public String toString() {
            return "a test";
        }
    }

    private void rule(Rules rules) {
        subset.start(Duration.ZERO);
        source.listener.accept(
                EndpointSnapshot.heard(List.of(instances(MANY)), Instant.EPOCH).withRules(rules));
        timer.move(2_000 * TICK);
    }

    private String picked(String method) {
        return subset.pick(method, 0, "", false, null, now).endpoint().host();
    }

    /** Without a limit, a client would connect to one provider of each tag, regardless of the number of tags. */
    @Test
    void providersOfVeryManyTagsAreNotAllConnected() {
        try (LoggedLines lines = new LoggedLines()) {
            subset.start(Duration.ZERO);
            source.lists(withManyTags());

            assertThat(subset.targets()).hasSize(5 + 5 + ProviderChoice.MAX_TAGS - 2);
            assertThat(subset.targets())
                    .extracting(Target::endpoint)
                    .contains(instance(0).endpoint(), instance(5).endpoint());
            assertThat(lines.all()).singleElement().asString().contains("992 tags, more than 100");
        }
    }

    /** Returns providers with 992 different tags. The tags of the providers with high numbers are left out. */
    private static List<Instance> withManyTags() {
        List<Instance> providers = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            String tag = i < 5 ? "" : i < 10 ? "gray" : "tag" + i;
            providers.add(new Instance(
                    instance(i).endpoint(),
                    tag.isEmpty() ? Attributes.DEFAULT : Attributes.DEFAULT.withTags(Map.of(Attributes.TAG, tag))));
        }
        return providers;
    }

    @Test
    void callWithATagThatWasLeftOutConnectsToItsProviders() {
        subset.start(Duration.ZERO);
        source.lists(withManyTags());
        int connected = subset.targets().size();

        Target picked = subset.pick("get", 0, "tag999", false, null, now);

        assertThat(picked.endpoint()).isEqualTo(instance(999).endpoint());
        assertThat(subset.targets()).hasSize(connected);
        source.lists(withManyTags().subList(1, MANY));
        timer.move(2_000 * TICK);
        assertThat(subset.targets()).contains(picked);
    }

    @Test
    void longerTagFallsBackToAShorterOneThatWasLeftOut() {
        subset.start(Duration.ZERO);
        source.lists(withManyTags());

        assertThat(subset.pick("get", 0, "tag999|a|b", false, null, now).endpoint())
                .isEqualTo(instance(999).endpoint());
    }

    /**
     * If calls with a tag went to providers without the tag, calls for a test environment could change production data.
     */
    @Test
    void callWhoseTagExceedsTheMaximumNumberOfTagsGoesToNoOtherProvider() {
        subset.start(Duration.ZERO);
        source.lists(withManyTags());
        for (int i = 800; i < 900; i++) {
            String tag = "tag" + i;
            try {
                assertThat(subset.pick("get", 0, tag, false, null, now)
                                .attributes()
                                .tag())
                        .isEqualTo(tag);
            } catch (RpcException e) {
                assertThat(i).isGreaterThanOrEqualTo(800 + ProviderChoice.MAX_TAGS - 2);
            }
        }

        assertThatThrownBy(() -> subset.pick("get", 0, "tag999", false, null, now))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("more than 100 tags")
                .hasMessageContaining("'tag999'");
        assertThat(subset.targets()).hasSizeLessThanOrEqualTo(5 + SUBSET + ProviderChoice.MAX_TAGS);

        source.lists(withManyTags().subList(900, MANY));
        timer.move(2_000 * TICK);
        assertThat(subset.pick("get", 0, "tag999", false, null, now)).isNotNull();
    }

    @Test
    void ruleIsAppliedBeforeTheSubsetIsTaken() {
        rule(new Ends(Map.of("", ".7"), false));

        assertThat(subset.targets())
                .hasSize(MANY / 250)
                .allMatch(target -> target.endpoint().host().endsWith(".7"));
    }

    @Test
    void eachMethodGetsASubsetOfItsProviders() {
        rule(new Ends(Map.of("get", ".7", "put", ".8"), true));

        assertThat(subset.targets()).hasSize(2 * (MANY / 250) + SUBSET);
        for (int i = 0; i < 20; i++) {
            assertThat(picked("get")).endsWith(".7");
            assertThat(picked("put")).endsWith(".8");
            assertThat(picked("find")).isNotEmpty();
        }
    }

    /** Rules that differ by method. The computation of the rules can fail, for example because memory is low. */
    private record Failing(AtomicBoolean fails) implements Rules {

        @Override
        public boolean isByMethod() {
            return true;
        }

        @Override
        public List<Instance> route(String method, List<Instance> providers) {
            if (fails.get() && method.equals("put")) {
                throw new IllegalStateException("a test");
            }
            return providers;
        }
    }

    @Test
    void choiceAfterAFailureContainsTheProvidersOfAllMethods() {
        ProviderChoice choice = new ProviderChoice(
                "Orders",
                List.of("put", "get"),
                "dubbo",
                ClusterSettings.DEFAULT.withSubset(SUBSET),
                "source",
                new Rankings(1));
        Failing rules = new Failing(new AtomicBoolean());
        List<Instance> list = List.of(instances(MANY));
        List<Instance> chosen = choice.connected(list, rules, Map.of()).instances();

        rules.fails().set(true);
        assertThatThrownBy(() -> choice.connected(List.of(instances(MANY)), rules, Map.of()))
                .hasMessage("a test");
        rules.fails().set(false);

        assertThat(choice.connected(list, rules, Map.of()).instances())
                .hasSize(SUBSET)
                .isEqualTo(chosen);
    }

    @Test
    void rulesThatIgnoreTheMethodHaveOneKeyForAllMethods() {
        Rules byMethod = new Ends(Map.of("get", ".7"), true);
        Rules forAll = new Ends(Map.of("", ".7"), false);

        assertThat(byMethod.routeKey("get")).isNotEqualTo(byMethod.routeKey("put"));
        assertThat(forAll.routeKey("get")).isEqualTo(forAll.routeKey("put"));
    }

    @Test
    void ruleThatExcludesAllProvidersIsNamed() {
        rule(new Ends(Map.of("", ".no"), false));

        assertThatThrownBy(() -> picked("get"))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("all 10")
                .hasMessageContaining("are excluded by a test");
    }

    /** Rules that give all providers one tag, and some providers a second tag. */
    private record TwoTags() implements Rules {

        @Override
        public List<String> tags(Instance provider) {
            return provider.endpoint().host().endsWith(".7") ? List.of("all", "some") : List.of("all");
        }

        @Override
        public String toString() {
            return "a test";
        }
    }

    @Test
    void eachTagGetsASubsetEvenIfItsProvidersHaveAnotherTagToo() {
        rule(new TwoTags());

        assertThat(subset.targets()).hasSizeBetween(SUBSET, SUBSET + MANY / 250);
        for (int i = 0; i < 20; i++) {
            assertThat(subset.pick("get", 0, "some", true, null, now).endpoint().host())
                    .endsWith(".7");
            assertThat(subset.pick("get", 0, "all", true, null, now)).isNotNull();
        }
    }
}
