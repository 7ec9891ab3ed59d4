package tern.rpc.registry.zookeeper;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.KnownProcesses.Known;
import tern.rpc.registry.dubbo.KnownProviders.Provider;
import tern.rpc.registry.dubbo.ProviderUrl;
import tern.rpc.registry.dubbo.ReadAttributes;

/**
 * Finds the providers of one service among the entries at both levels. Each address is returned once. If an address has
 * entries at both levels, the application-level entry is used. Not thread-safe.
 */
final class ServiceMatch {

    private static final String PROVIDERS = "providers";
    private static final String NOTHING = "empty";

    private final ServiceKey service;
    private final String protocol;
    private final ReadAttributes attributes = new ReadAttributes();
    private List<Instance> before = List.of(); // sorted by address
    private Map<Endpoint, Instance> found = new TreeMap<>(ServiceMatch::compare);

    ServiceMatch(Subscription subscription) {
        this.service = subscription.service();
        this.protocol = subscription.protocol();
    }

    private static int compare(Endpoint one, Endpoint other) {
        int hosts = one.host().compareTo(other.host());
        return hosts != 0 ? hosts : Integer.compare(one.port(), other.port());
    }

    /**
     * Adds a process if it offers the service.
     *
     * @param metadata the process's services; null until they are known
     */
    void add(Known process, @Nullable ApplicationMetadata metadata) {
        if (metadata == null) {
            return;
        }
        for (ApplicationMetadata.Service offered : metadata.services().values()) {
            if (offered.protocol().equals(protocol)
                    && new ServiceKey(offered.name(), offered.group(), offered.version()).equals(service)) {
                add(
                        process.host(),
                        offered.port() > 0 ? offered.port() : process.port(protocol),
                        name -> {
                            String own = offered.parameters().get(name);
                            return own == null ? process.attribute(name) : own;
                        },
                        process.revision());
            }
        }
    }

    void add(Provider provider) {
        if (speaks(provider) && provider.service().equals(service) && isEnabled(provider)) {
            add(provider.host(), provider.port(), provider::attribute, "");
        }
    }

    private boolean speaks(Provider provider) {
        return !provider.protocol().equals(NOTHING)
                && (provider.protocol().equals(protocol)
                        || provider.parameter(ProviderUrl.FURTHER_PROTOCOL).equals(protocol));
    }

    private static boolean isEnabled(Provider provider) {
        String category = provider.parameter(ProviderUrl.CATEGORY);
        return (category.isEmpty() || List.of(category.split(",")).contains(PROVIDERS))
                && !provider.parameter(ProviderUrl.DISABLED).equals("true")
                && !provider.parameter(ProviderUrl.ENABLED).equals("false");
    }

    private void add(String host, int port, Function<String, @Nullable String> parameters, String revision) {
        if (port == 0) {
            return;
        }
        Endpoint endpoint = new Endpoint(host, port);
        if (!found.containsKey(endpoint)) {
            Instance instance = new Instance(endpoint, attributes.of(parameters, revision));
            found.put(endpoint, sameAsBefore(instance));
        }
    }

    /** Returns the equal object of the previous list, because comparing identical objects is fastest. */
    private Instance sameAsBefore(Instance instance) {
        int index =
                Collections.binarySearch(before, instance, (one, other) -> compare(one.endpoint(), other.endpoint()));
        return index >= 0 && before.get(index).equals(instance) ? before.get(index) : instance;
    }

    /** Returns the providers found since the previous call, sorted by address. The list is immutable. */
    List<Instance> take() {
        before = List.copyOf(found.values());
        found = new TreeMap<>(ServiceMatch::compare);
        return before;
    }
}
