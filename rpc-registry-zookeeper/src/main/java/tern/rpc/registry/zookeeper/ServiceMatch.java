package tern.rpc.registry.zookeeper;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
 * Finds the providers of one service among interface-level and application-level entries. Each address is returned
 * once. If an address has both kinds of entries, the application-level entry is used. A new entry is read once. If it
 * contains no provider of the service, it is read again with each later list. Not thread-safe.
 */
final class ServiceMatch {

    private static final String PROVIDERS = "providers";

    private final ServiceKey service;
    private final String protocol;
    private final ReadAttributes attributes = new ReadAttributes();
    private List<Instance> result = List.of(); // the most recent result, sorted by address
    private Map<Object, Matched<?>> before = Map.of();
    private Map<Object, Matched<?>> parts = new LinkedHashMap<>();

    /**
     * The entries of one list, sorted by address, and the provider that was found in each entry. The provider is null
     * for an entry that does not offer the service.
     */
    private static final class Matched<E> {
        final List<E> entries;
        final @Nullable Instance[] instances;

        Matched(List<E> entries, @Nullable Instance[] instances) {
            this.entries = entries;
            this.instances = instances;
        }
    }

    ServiceMatch(Subscription subscription) {
        this.service = subscription.service();
        this.protocol = subscription.protocol();
    }

    private static int compare(Instance one, Instance other) {
        int hosts = one.endpoint().host().compareTo(other.endpoint().host());
        return hosts != 0
                ? hosts
                : Integer.compare(one.endpoint().port(), other.endpoint().port());
    }

    /**
     * Adds the processes of an application that offer the service.
     *
     * @param processes sorted by address
     * @param metadata returns the services of a process; null until they are known
     * @param shared the providers that have already been found in these processes for other services of the application
     */
    void addProcesses(
            String application,
            List<Known> processes,
            Function<Known, @Nullable ApplicationMetadata> metadata,
            SharedInstances shared) {
        Map<ApplicationMetadata, Optional<ApplicationMetadata.Service>> offers = new IdentityHashMap<>();
        add(application, processes, Known.BY_ADDRESS, process -> {
            ApplicationMetadata services = metadata.apply(process);
            return services == null
                    ? null
                    : offers.computeIfAbsent(services, this::offered)
                            .map(offered -> instance(process, offered))
                            .map(found -> shared.same(process, found))
                            .orElse(null);
        });
    }

    private Optional<ApplicationMetadata.Service> offered(ApplicationMetadata metadata) {
        return metadata.services().values().stream()
                .filter(offered -> offered.protocol().equals(protocol)
                        && new ServiceKey(offered.name(), offered.group(), offered.version()).equals(service))
                .findFirst();
    }

    private @Nullable Instance instance(Known process, ApplicationMetadata.Service offered) {
        return instance(
                process.host(),
                offered.port() > 0 ? offered.port() : process.port(protocol),
                name -> {
                    String own = offered.parameters().get(name);
                    return own == null ? process.attribute(name) : own;
                },
                process.revision());
    }

    /**
     * Adds the interface-level entries that offer the service.
     *
     * @param providers sorted by address
     */
    void addProviders(List<Provider> providers) {
        add(
                Provider.class,
                providers,
                Provider.BY_ADDRESS,
                provider -> speaks(provider) && provider.service().equals(service) && isEnabled(provider)
                        ? instance(provider.host(), provider.port(), provider::attribute, "")
                        : null);
    }

    /**
     * Finds the providers in the entries of one list, and adds them to the result. Reads only new entries, and entries
     * in which no provider has been found so far.
     *
     * @param key identifies the list
     */
    private <E> void add(Object key, List<E> entries, Comparator<E> order, Function<E, @Nullable Instance> reader) {
        Matched<?> old = before.get(key);
        List<?> oldEntries = old == null ? List.of() : old.entries;
        @Nullable Instance[] oldInstances = old == null ? new @Nullable Instance[0] : old.instances;
        @Nullable Instance[] instances = new @Nullable Instance[entries.size()];
        boolean isSame = old != null && oldInstances.length == instances.length;
        int last = 0;
        for (int i = 0; i < instances.length; i++) {
            E entry = entries.get(i);
            while (last < oldInstances.length && isBefore(oldEntries.get(last), entry, order)) {
                last++;
            }
            if (last < oldInstances.length && oldEntries.get(last) == entry) {
                instances[i] = oldInstances[last++];
            } else {
                isSame = false;
            }
            if (instances[i] == null) {
                instances[i] = reader.apply(entry);
                isSame &= instances[i] == null;
            }
        }
        parts.put(key, old != null && isSame ? old : new Matched<>(entries, instances));
    }

    @SuppressWarnings("unchecked") // The cast is safe, because lists from one source contain entries of the same type.
    private static <E> boolean isBefore(Object old, E entry, Comparator<E> order) {
        return old != entry && order.compare((E) old, entry) < 0;
    }

    /** Returns whether the provider supports the subscription's protocol. */
    boolean speaks(Provider provider) {
        return !provider.protocol().equals(ProviderUrl.NO_PROVIDER)
                && (provider.protocol().equals(protocol)
                        || provider.parameter(ProviderUrl.FURTHER_PROTOCOL).equals(protocol));
    }

    private static boolean isEnabled(Provider provider) {
        String category = provider.parameter(ProviderUrl.CATEGORY);
        return (category.isEmpty() || List.of(category.split(",")).contains(PROVIDERS))
                && !provider.parameter(ProviderUrl.DISABLED).equals("true")
                && !provider.parameter(ProviderUrl.ENABLED).equals("false");
    }

    private @Nullable Instance instance(
            String host, int port, Function<String, @Nullable String> parameters, String revision) {
        return port == 0
                ? null
                : sameAsBefore(new Instance(new Endpoint(host, port), attributes.of(parameters, revision)));
    }

    /**
     * Returns the equal provider from the previous result if there is one; otherwise the given provider. Identical
     * objects are compared faster than equal objects.
     */
    private Instance sameAsBefore(Instance instance) {
        int index = Collections.binarySearch(result, instance, ServiceMatch::compare);
        return index >= 0 && result.get(index).equals(instance) ? result.get(index) : instance;
    }

    /**
     * Returns the providers in the lists added since the previous call to this method, sorted by address. If several
     * lists contain an address, the provider comes from the list that was added first. The list is immutable, and the
     * same object is returned until a provider changes.
     */
    List<Instance> take() {
        boolean isSame = parts.size() == before.size()
                && parts.entrySet().stream().allMatch(part -> before.get(part.getKey()) == part.getValue());
        before = parts;
        parts = new LinkedHashMap<>();
        if (!isSame) {
            result = merged();
        }
        return result;
    }

    /** Returns the addresses at which an application offers the service, according to the last list. */
    Set<Endpoint> addressesOf(String application) {
        Set<Endpoint> addresses = new HashSet<>();
        before.forEach((key, part) -> {
            for (int i = 0; i < part.instances.length; i++) {
                Instance instance = part.instances[i];
                boolean isOf = part.entries.get(i) instanceof Provider provider
                        ? provider.parameter(ProviderUrl.APPLICATION).equals(application)
                        : key.equals(application);
                if (instance != null && isOf) {
                    addresses.add(instance.endpoint());
                }
            }
        });
        return addresses;
    }

    /**
     * Adds the instances of a list. If the list contains an address twice, keeps the entry of the process that started
     * last. The other entry belongs to a process that has ended but whose session has not expired yet.
     */
    private static void addDistinct(Matched<?> part, List<Instance> all) {
        int first = all.size();
        for (Instance instance : part.instances) {
            int last = all.size() - 1;
            if (instance == null) {
                continue;
            }
            if (last < first || compare(all.get(last), instance) != 0) {
                all.add(instance);
            } else if (instance.attributes().startedAtMillis()
                    > all.get(last).attributes().startedAtMillis()) {
                all.set(last, instance);
            }
        }
    }

    private List<Instance> merged() {
        List<Instance> all = new ArrayList<>();
        before.values().forEach(part -> addDistinct(part, all));
        all.sort(ServiceMatch::compare); // Sorting is fast, because each list is already in order.
        List<Instance> distinct = new ArrayList<>(all.size());
        Instance last = null;
        for (Instance instance : all) {
            if (last == null || compare(last, instance) != 0) {
                distinct.add(instance);
                last = instance;
            }
        }
        return List.copyOf(distinct);
    }
}
