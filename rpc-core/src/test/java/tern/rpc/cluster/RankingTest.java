package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;

/** Tests the order in which a client chooses providers from a long list, including changes to the list. */
class RankingTest {

    private static final int ALL = Integer.MAX_VALUE;

    private final Random random = new Random(1);

    private static Instance instance(int number) {
        return Instance.of(new Endpoint("10.0." + number / 250 + "." + number % 250, 20880));
    }

    private static List<Instance> instances(int count) {
        return IntStream.range(0, count).mapToObj(RankingTest::instance).toList();
    }

    private static List<Instance> ranked(int client, List<Instance> instances) {
        Ranking ranking = new Ranking(client, "near");
        ranking.set(instances);
        return ranking.first(ALL, Map.of());
    }

    private static List<Instance> subset(int client, List<Instance> instances) {
        return ranked(client, instances).subList(0, 100);
    }

    private static Instance with(Instance instance, Attributes attributes) {
        return new Instance(instance.endpoint(), attributes);
    }

    private Instance any() {
        Attributes attributes = Attributes.DEFAULT
                .withWeight(random.nextInt(4) * 50)
                .withZone(random.nextBoolean() ? "near" : "far")
                .withTags(random.nextInt(4) == 0 ? Map.of(Attributes.TAG, "gray") : Map.of());
        return with(instance(random.nextInt(2_000)), attributes);
    }

    @Test
    void subsetOfAClientIsStableAndDiffersBetweenClients() {
        List<Instance> all = instances(1_000);
        List<Instance> chosen = subset(1, all);

        assertThat(new HashSet<>(chosen)).hasSize(100);
        assertThat(subset(2, all)).isNotEqualTo(chosen);
        assertThat(subset(1, all.subList(1, 1_000)).stream().filter(each -> !chosen.contains(each)))
                .hasSizeLessThanOrEqualTo(1);
    }

    @Test
    void providersInTheOwnZoneAreFirstAndProvidersWithWeightZeroAreLast() {
        Instance last = with(instance(1), Attributes.ofWeight(0).withZone("near"));
        Instance far = with(instance(2), Attributes.DEFAULT.withZone("far"));
        Instance near = with(instance(3), Attributes.DEFAULT.withZone("near"));

        assertThat(ranked(1, List.of(last, far, near))).containsExactly(near, far, last);
    }

    @Test
    void providersThatWerePassedOverAreChosenLastAndInTheirOrder() {
        Ranking ranking = new Ranking(1, "");
        ranking.set(instances(5));
        Map<Endpoint, Long> passedOver = new HashMap<>();
        passedOver.put(instance(3).endpoint(), 7L);
        passedOver.put(instance(0).endpoint(), 9L);
        passedOver.put(instance(4).endpoint(), 8L);

        assertThat(ranking.first(4, passedOver).subList(0, 2)).containsExactlyInAnyOrder(instance(1), instance(2));
        assertThat(ranking.first(4, passedOver).subList(2, 4)).containsExactly(instance(3), instance(4));
    }

    /** The ranks of entries with equal addresses are equal. */
    @Test
    void orderThatIsKeptUpEqualsTheOrderOfTheWholeList() {
        List<Instance> list = new ArrayList<>();
        RankedProviders kept =
                new RankedProviders(1, "near", each -> List.of(each.attributes().tag()));
        for (int round = 0; round < 2_000; round++) {
            change(list);
            List<Instance> now = List.copyOf(list);

            Map<String, List<Instance>> orders = orders(kept, now);

            Map<String, List<Instance>> expected = orders(
                    new RankedProviders(
                            1, "near", each -> List.of(each.attributes().tag())),
                    now);
            assertThat(orders.keySet()).isEqualTo(expected.keySet());
            expected.forEach((tag, order) -> {
                assertThat(orders.get(tag)).containsExactlyInAnyOrderElementsOf(order);
                assertThat(endpoints(orders.get(tag))).isEqualTo(endpoints(order));
            });
        }
    }

    private void change(List<Instance> list) {
        int position = list.isEmpty() ? 0 : random.nextInt(list.size());
        switch (random.nextInt(8)) {
            case 0 ->
                list.subList(position, Math.min(list.size(), position + random.nextInt(60)))
                        .clear();
            case 1 -> IntStream.range(0, random.nextInt(60)).forEach(i -> list.add(any()));
            case 2 -> list.clear();
            case 3 -> Collections.shuffle(list, random);
            default ->
                IntStream.range(0, 1 + random.nextInt(5)).forEach(i -> {
                    if (list.size() > 10 && random.nextBoolean()) {
                        list.set(random.nextInt(list.size()), any());
                    } else {
                        list.add(list.isEmpty() ? 0 : random.nextInt(list.size()), any());
                    }
                });
        }
    }

    private static Map<String, List<Instance>> orders(RankedProviders providers, List<Instance> list) {
        Map<String, List<Instance>> orders = new HashMap<>();
        providers.read(list, byTag -> byTag.forEach((tag, ranking) -> orders.put(tag, ranking.first(ALL, Map.of()))));
        return orders;
    }

    private static Set<Endpoint> endpoints(List<Instance> instances) {
        Set<Endpoint> endpoints = new LinkedHashSet<>();
        instances.forEach(each -> endpoints.add(each.endpoint()));
        return endpoints;
    }

    @Test
    void changeOfAListContainsTheRemovedAndAddedEntries() {
        List<Instance> list = new ArrayList<>(instances(100));
        for (int round = 0; round < 5_000; round++) {
            List<Instance> before = List.copyOf(list);
            change(list);

            ListChange change = ListChange.between(before, List.copyOf(list));

            List<Instance> after = new ArrayList<>(before);
            change.removed().forEach(each -> assertThat(after.remove(each)).isTrue());
            after.addAll(change.added());
            assertThat(after).containsExactlyInAnyOrderElementsOf(list);
        }
    }

    @Test
    void changesOfAFewEntriesAreFoundAtAllPositions() {
        List<Instance> before = instances(1_000);
        List<Instance> after = new ArrayList<>(before);
        after.subList(900, 930).clear();
        after.set(500, instance(1_500));
        after.subList(300, 350).clear();
        IntStream.range(0, 20).forEach(i -> after.set(200 + i, instance(1_600 + i)));
        after.add(100, instance(1_700));
        after.remove(0);

        assertThat(ListChange.between(before, after).size()).isBetween(30 + 2 + 50 + 40 + 1 + 1, 160);
        assertThat(ListChange.between(before, List.copyOf(before)).isEmpty()).isTrue();
    }

    @Test
    void changeOfOneEntryRanksOnlyThisEntry() {
        List<Instance> ranked = new ArrayList<>();
        RankedProviders providers = new RankedProviders(1, "", each -> {
            ranked.add(each);
            return List.of("");
        });
        List<Instance> list = new ArrayList<>(instances(10_000));
        providers.read(List.copyOf(list), byTag -> {});
        ranked.clear();

        list.remove(5_000);
        list.add(instance(10_001));
        providers.read(List.copyOf(list), byTag -> {});

        assertThat(ranked).containsExactly(instance(5_000), instance(10_001));
    }
}
