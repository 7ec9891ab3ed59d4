package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.KnownProcesses;
import tern.rpc.registry.dubbo.KnownProcesses.Known;
import tern.rpc.registry.dubbo.KnownProviders;
import tern.rpc.registry.dubbo.ProcessEntry;
import tern.rpc.registry.dubbo.ProviderNames;
import tern.rpc.registry.dubbo.ProviderUrl;
import tern.rpc.registry.dubbo.UsedHeap;

class ServiceMatchTest {

    private static final int MANY = 50_000;

    private final KnownProviders known = new KnownProviders();
    private final ServiceMatch match =
            new ServiceMatch(new Subscription(new ServiceKey("cap.Greeting", "", ""), "dubbo"));

    private List<Instance> instancesOf(List<String> names) {
        known.replace(names, (name, wrong) -> {
            throw wrong;
        });
        match.addProviders(known.providers());
        return match.take();
    }

    @Test
    void unchangedProvidersAreTheSameObjects() {
        Set<Instance> before = Collections.newSetFromMap(new IdentityHashMap<>());
        before.addAll(instancesOf(new ProviderNames(1_000)));

        List<Instance> after = instancesOf(new ProviderNames(1_001));

        assertThat(after).hasSize(1_001);
        assertThat(after.stream().filter(instance -> !before.contains(instance)))
                .singleElement()
                .hasToString("10.0.3.232:20880");
    }

    @Test
    void entryAndItsProviderNeedAtMost250Bytes() {
        List<String> names = new ProviderNames(MANY);

        long before = UsedHeap.bytes();
        List<Instance> instances = instancesOf(names);
        long perEntry = (UsedHeap.bytes() - before) / MANY;

        assertThat(instances).hasSize(MANY);
        assertThat(known.providers()).hasSize(MANY);
        assertThat(perEntry).isLessThanOrEqualTo(250);
    }

    private static Known process(int number, String revision) {
        ProcessEntry entry = new ProcessEntry(
                "shop",
                "id",
                "10.0." + number / 250 + "." + number % 250,
                20880,
                Map.of(ProcessEntry.REVISION, revision, ProcessEntry.STORAGE, ProcessEntry.REMOTE));
        return new KnownProcesses("shop").parse(entry.json(1));
    }

    private static ApplicationMetadata metadata(String service) {
        ApplicationMetadata.Service offered =
                new ApplicationMetadata.Service(service, "", "", "dubbo", 0, service, Map.of());
        return ApplicationMetadata.of("shop", Map.of(offered.key(), offered));
    }

    private List<Instance> instancesOf(List<Known> processes, Function<Known, ApplicationMetadata> metadata) {
        List<Known> sorted = new ArrayList<>(processes);
        sorted.sort(Known.BY_ADDRESS);
        match.addProcesses("shop", List.copyOf(sorted), metadata, new SharedInstances());
        match.addProviders(known.providers());
        return match.take();
    }

    @Test
    void onlyNewProcessesAreReadAfterAChange() {
        ApplicationMetadata metadata = metadata("cap.Greeting");
        List<Known> read = new ArrayList<>();
        Function<Known, ApplicationMetadata> reader = process -> {
            read.add(process);
            return metadata;
        };
        List<Known> processes = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            processes.add(process(i, "r1"));
        }
        assertThat(instancesOf(processes, reader)).hasSize(1_000);
        assertThat(read).hasSize(1_000);
        read.clear();

        processes.remove(500);
        Known last = process(1_001, "r1");
        processes.add(last);
        List<Instance> after = instancesOf(processes, reader);

        assertThat(read).containsExactly(last);
        assertThat(after)
                .hasSize(1_000)
                .isSortedAccordingTo(
                        Comparator.comparing(each -> each.endpoint().host()));
        assertThat(instancesOf(processes, reader)).isSameAs(after);
    }

    @Test
    void processWhoseServicesBecomeKnownLaterIsAddedThen() {
        List<Known> processes = List.of(process(1, "r1"), process(2, "r2"));
        Map<String, ApplicationMetadata> revisions = new HashMap<>(Map.of("r1", metadata("cap.Greeting")));
        assertThat(instancesOf(processes, process -> revisions.get(process.revision())))
                .hasSize(1);

        revisions.put("r2", metadata("cap.Greeting"));
        assertThat(instancesOf(processes, process -> revisions.get(process.revision())))
                .hasSize(2);
    }

    @Test
    void processWithoutTheServiceIsLeftOut() {
        assertThat(instancesOf(List.of(process(1, "r1")), process -> metadata("cap.Other")))
                .isEmpty();
    }

    @Test
    void applicationLevelCountsForAnAddressAtBothLevelsUntilItLeaves() {
        known.replace(new ProviderNames(2), (name, wrong) -> {
            throw wrong;
        });
        List<Known> processes = List.of(process(1, "r1"));

        List<Instance> both = instancesOf(processes, process -> metadata("cap.Greeting"));
        List<Instance> alone = instancesOf(List.of(), process -> metadata("cap.Greeting"));

        assertThat(both).extracting(Instance::toString).containsExactly("10.0.0.0:20880", "10.0.0.1:20880");
        assertThat(both).extracting(each -> each.attributes().revision()).containsExactly("", "r1");
        assertThat(alone).extracting(Instance::toString).containsExactly("10.0.0.0:20880", "10.0.0.1:20880");
        assertThat(alone).extracting(each -> each.attributes().revision()).containsExactly("", "");
    }

    private static String node(String application, String parameters) {
        return ProviderUrl.parse("dubbo://10.0.0.1:20880/cap.Greeting?application=" + application
                        + "&interface=cap.Greeting&" + parameters)
                .node();
    }

    @Test
    void entryOfTheProcessThatStartedLastCounts() {
        List<Instance> found = instancesOf(List.of(
                node("shop", "weight=1&timestamp=5"),
                node("shop", "weight=2&timestamp=7"),
                node("shop", "weight=3&timestamp=6")));

        assertThat(found)
                .singleElement()
                .extracting(instance -> instance.attributes().weight())
                .isEqualTo(2);
    }

    @Test
    void addressesOfAnApplicationAreKnown() {
        List<Instance> found = instancesOf(List.of(node("shop", "weight=1")));

        assertThat(match.addressesOf("shop")).containsExactly(found.get(0).endpoint());
        assertThat(match.addressesOf("other")).isEmpty();
    }

    @Test
    void pairOfAServiceAndAProcessNeedsAtMost8Bytes() {
        int services = 20;
        int processes = 10_000;
        Map<String, ApplicationMetadata.Service> offered = new HashMap<>();
        for (int i = 0; i < services; i++) {
            ApplicationMetadata.Service service =
                    new ApplicationMetadata.Service("cap.S" + i, "", "", "dubbo", 0, "cap.S" + i, Map.of());
            offered.put(service.key(), service);
        }
        ApplicationMetadata metadata = ApplicationMetadata.of("shop", offered);
        List<Known> known = IntStream.range(0, processes)
                .mapToObj(i -> process(i, "r1"))
                .sorted(Known.BY_ADDRESS)
                .toList();
        SharedInstances shared = new SharedInstances();
        List<ServiceMatch> matches = new ArrayList<>();
        List<List<Instance>> found = new ArrayList<>();
        long before = 0;
        for (int i = 0; i < services; i++) {
            ServiceMatch each = new ServiceMatch(new Subscription(new ServiceKey("cap.S" + i, "", ""), "dubbo"));
            each.addProcesses("shop", known, process -> metadata, shared);
            matches.add(each);
            found.add(each.take());
            // The first service's match has created the shared providers, so the measurement starts after it.
            before = i == 0 ? UsedHeap.bytes() : before;
        }
        long perPair = (UsedHeap.bytes() - before) / ((services - 1L) * processes);

        assertThat(perPair).isLessThanOrEqualTo(8);
        assertThat(matches).hasSize(services);
        assertThat(found).allSatisfy(list -> assertThat(list).hasSize(processes));
        assertThat(found.get(services - 1).get(7)).isSameAs(found.get(0).get(7));
    }

    @Test
    void servicesWithOtherAttributesShareOnlyTheAddress() {
        SharedInstances shared = new SharedInstances();
        Known process = process(1, "r1");
        Instance first = Instance.of(new Endpoint("10.0.0.1", 20880));
        Instance heavier = Instance.of(new Endpoint("10.0.0.1", 20880), 200);

        assertThat(shared.same(process, first)).isSameAs(first);
        assertThat(shared.same(process, Instance.of(new Endpoint("10.0.0.1", 20880))))
                .isSameAs(first);
        Instance other = shared.same(process, heavier);
        assertThat(other).isEqualTo(heavier);
        assertThat(other.endpoint()).isSameAs(first.endpoint());
    }

    @Test
    void providersOfProcessesThatHaveLeftAreForgotten() {
        SharedInstances shared = new SharedInstances();
        List<Known> processes =
                IntStream.range(0, 100).mapToObj(i -> process(i, "r1")).toList();
        Instance found = Instance.of(new Endpoint("10.0.0.1", 20880));
        processes.forEach(process -> shared.same(process, found));

        shared.keep(processes.subList(0, 1));

        assertThat(shared.size()).isEqualTo(1);
    }
}
