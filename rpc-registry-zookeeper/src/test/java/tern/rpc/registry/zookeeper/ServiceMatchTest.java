package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Instance;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.dubbo.KnownProviders;
import tern.rpc.registry.dubbo.ProviderNames;
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
        known.providers().forEach(match::add);
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
}
