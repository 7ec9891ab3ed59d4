package tern.rpc.registry;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;

/**
 * The members of a JSON provider file, exactly as in the file. A change affects only the entries of one registration.
 * All other members are kept, including members that Tern does not recognize.
 *
 * @param members the members of the file; not changed by this class
 */
record ProviderDocument(Map<String, @Nullable Object> members) {

    /**
     * Parses a file. An empty text has no members.
     *
     * @throws IllegalArgumentException if the text is not JSON, or if {@code services} is not a JSON object
     */
    static ProviderDocument parse(String text) {
        Map<String, @Nullable Object> members =
                text.isBlank() ? new LinkedHashMap<>() : JsonReader.readObject(text, ProviderFile.MAX_MEMBERS);
        ProviderFile.checkServices(members);
        return new ProviderDocument(members);
    }

    private Map<String, @Nullable Object> services() {
        Map<String, @Nullable Object> services = new LinkedHashMap<>();
        if (members.get(ProviderFile.SERVICES) instanceof Map<?, ?> written) {
            written.forEach((service, providers) -> services.put(String.valueOf(service), providers));
        }
        return services;
    }

    private ProviderDocument withServices(Map<String, @Nullable Object> services) {
        Map<String, @Nullable Object> changed = new LinkedHashMap<>(members);
        changed.put(ProviderFile.SERVICES, services);
        return new ProviderDocument(changed);
    }

    /**
     * Returns this content with the services of a registration. The services of the registration replace all entries
     * with the same address.
     *
     * @throws IllegalArgumentException if the value of one of these services is not a list
     */
    ProviderDocument with(Registration registration) {
        Map<String, @Nullable Object> changed = without(registration).services();
        entries(registration).forEach((service, added) -> {
            Object written = changed.get(service);
            if (changed.containsKey(service) && !(written instanceof List<?>)) {
                throw new IllegalArgumentException(
                        "the value of " + service + " is " + ProviderFile.kind(written) + "; expected a list");
            }
            List<@Nullable Object> providers =
                    written instanceof List<?> list ? new ArrayList<>(list) : new ArrayList<>();
            providers.addAll(added);
            changed.put(service, providers);
        });
        return withServices(changed);
    }

    /**
     * Returns this content without the entries for a registration's address. Returns the same content if there are no
     * such entries.
     */
    ProviderDocument without(Registration registration) {
        if (own(registration).isEmpty()) {
            return this;
        }
        Map<String, @Nullable Object> changed = new LinkedHashMap<>();
        services().forEach((service, providers) -> {
            if (providers instanceof List<?> list) {
                List<@Nullable Object> others = new ArrayList<>(list);
                boolean removed = others.removeIf(entry -> isAt(registration, entry));
                if (!removed || !others.isEmpty()) {
                    changed.put(service, others);
                }
            } else {
                changed.put(service, providers);
            }
        });
        return withServices(changed);
    }

    /** Returns whether this content lists exactly the services of a registration under the registration's address. */
    boolean has(Registration registration) {
        return own(registration).equals(sets(entries(registration)));
    }

    /** Returns whether an entry for the registration's address was written by another process. */
    boolean isTakenFrom(Registration registration) {
        return own(registration).values().stream()
                .flatMap(LinkedHashSet::stream)
                .anyMatch(entry -> !(entry instanceof Map<?, ?> written
                        && Long.valueOf(registration.startedAtMillis()).equals(written.get(ProviderFile.STARTED_AT))));
    }

    /** Returns, for each service, the entries for a registration's address. */
    private Map<String, LinkedHashSet<@Nullable Object>> own(Registration registration) {
        Map<String, List<@Nullable Object>> own = new LinkedHashMap<>();
        services().forEach((service, providers) -> {
            if (providers instanceof List<?> list) {
                for (Object entry : list) {
                    if (isAt(registration, entry)) {
                        own.computeIfAbsent(service, name -> new ArrayList<>()).add(entry);
                    }
                }
            }
        });
        return sets(own);
    }

    private static Map<String, LinkedHashSet<@Nullable Object>> sets(Map<String, List<@Nullable Object>> lists) {
        Map<String, LinkedHashSet<@Nullable Object>> sets = new LinkedHashMap<>();
        lists.forEach((service, entries) -> sets.put(service, new LinkedHashSet<>(entries)));
        return sets;
    }

    private static boolean isAt(Registration registration, @Nullable Object entry) {
        Object address = entry instanceof Map<?, ?> written ? written.get(ProviderFile.ADDRESS) : entry;
        return address instanceof String text
                && ProviderFile.isAddressOf(text, registration.host(), registration.port());
    }

    /** Returns the entries of a registration by service. */
    private static Map<String, List<@Nullable Object>> entries(Registration registration) {
        Map<String, List<@Nullable Object>> entries = new LinkedHashMap<>();
        Endpoint endpoint = new Endpoint(registration.host(), registration.port());
        for (Registration.Service service : registration.services()) {
            Attributes attributes = Attributes.ofWeight(service.weight())
                    .withZone(registration.attributes().getOrDefault(Registration.ZONE, ""))
                    .withStartedAt(registration.startedAtMillis());
            String tag = registration.attributes().get(Attributes.TAG);
            Attributes tagged = tag == null ? attributes : attributes.withTags(Map.of(Attributes.TAG, tag));
            List<@Nullable Object> written = new ArrayList<>();
            registration
                    .protocols()
                    .forEach(protocol -> written.add(
                            ProviderFile.members(new ProviderFile.Provider(protocol, new Instance(endpoint, tagged)))));
            entries.put(service.key().toString(), written);
        }
        return entries;
    }

    String json() {
        return JsonWriter.write(members);
    }
}
