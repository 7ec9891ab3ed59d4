package tern.rpc.registry.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceKey;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.KnownProviders.Provider;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.ProviderUrl;

/** Explains why no entry of an interface matches a subscription, for logs and error messages. Not thread-safe. */
final class UnfitEntries {

    private static final int MAX_NAMED = 5;

    private final ServiceKey service;

    /**
     * The first services in alphabetical order. The text names up to {@link #MAX_NAMED} of them. One more service is
     * kept to show that the list is incomplete.
     */
    private final NavigableSet<String> others = new TreeSet<>();

    private boolean isAnyDisabled;
    private boolean isAnyUnknown;

    /** @param service the service of the subscription */
    UnfitEntries(ServiceKey service) {
        this.service = service;
    }

    /** @param speaks whether the provider supports the protocol of the subscription */
    void add(Provider provider, boolean speaks) {
        if (provider.protocol().equals(ProviderUrl.NO_PROVIDER)) {
            return;
        }
        if (speaks && provider.service().equals(service)) {
            isAnyDisabled = true;
        } else {
            add(provider.service(), provider.protocol());
        }
    }

    /** @param services the services of a process; null if they are not known */
    void add(@Nullable ApplicationMetadata services) {
        if (services == null) {
            isAnyUnknown = true;
            return;
        }
        for (ApplicationMetadata.Service offered : services.services().values()) {
            if (offered.name().equals(service.interfaceName())) {
                add(new ServiceKey(offered.name(), offered.group(), offered.version()), offered.protocol());
            }
        }
    }

    private void add(ServiceKey offered, String protocol) {
        others.add(Limits.shown(offered.toString()) + " over " + Limits.shown(protocol));
        if (others.size() > MAX_NAMED + 1) {
            others.pollLast();
        }
    }

    /** Returns the reasons why no added entry fits the subscription; an empty string if no entry was added. */
    String why() {
        List<String> reasons = new ArrayList<>();
        if (!others.isEmpty()) {
            reasons.add("the registry has only "
                    + String.join(", ", others.stream().limit(MAX_NAMED).toList())
                    + (others.size() > MAX_NAMED ? " and others" : ""));
        }
        if (isAnyDisabled) {
            reasons.add("some of its entries are disabled");
        }
        if (isAnyUnknown) {
            reasons.add("the services of some of its processes are not known");
        }
        return String.join("; ", reasons);
    }
}
