package tern.rpc.registry.dubbo;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import tern.rpc.registry.dubbo.ApplicationMetadata.Service;

/**
 * The services of one application's revisions in a compact form. Only the parameters that a consumer uses are kept, so
 * most revisions have equal services. Revisions with equal services share one object. Not thread-safe.
 */
public final class KnownServices {

    /**
     * The limit on the total number of characters in the distinct services of one application. A client with write
     * access to the registry can write any number of revisions.
     */
    static final int MAX_CHARACTERS = 16 * 1024 * 1024;

    private final Map<Map<String, Service>, ApplicationMetadata> shared = new HashMap<>();
    private long characters;

    /**
     * Returns the compact form of a revision's services. If an earlier revision has equal services, returns the object
     * that was created for the earlier revision.
     *
     * @throws IllegalArgumentException if all distinct services together exceed the limit
     */
    public ApplicationMetadata add(ApplicationMetadata metadata) {
        Map<String, Service> services = new TreeMap<>();
        metadata.services().forEach((key, service) -> services.put(key, compact(service)));
        ApplicationMetadata known = shared.get(services);
        if (known != null) {
            return known;
        }
        long length = length(services);
        if (characters + length > MAX_CHARACTERS) {
            throw new IllegalArgumentException("the services of all revisions of the application have more than "
                    + MAX_CHARACTERS + " characters");
        }
        ApplicationMetadata made = new ApplicationMetadata(metadata.application(), metadata.revision(), services);
        keep(made);
        return made;
    }

    private void keep(ApplicationMetadata metadata) {
        shared.put(metadata.services(), metadata);
        characters += length(metadata.services());
    }

    private static Service compact(Service service) {
        Map<String, String> parameters = new HashMap<>();
        for (String name : ReadAttributes.NAMES) {
            String value = service.parameters().get(name);
            if (value != null && !Limits.isTooLong(name, value)) {
                parameters.put(name, value);
            }
        }
        return new Service(
                service.name(),
                service.group(),
                service.version(),
                service.protocol(),
                service.port(),
                service.path(),
                parameters);
    }

    private static long length(Map<String, Service> services) {
        long length = 0;
        for (Map.Entry<String, Service> each : services.entrySet()) {
            Service service = each.getValue();
            length += each.getKey().length()
                    + service.name().length()
                    + service.group().length()
                    + service.version().length()
                    + service.path().length()
                    + service.parameters().toString().length();
        }
        return length;
    }

    /** Forgets all services except the given services, which {@link #add} has returned. */
    public void retain(Collection<ApplicationMetadata> used) {
        Set<ApplicationMetadata> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
        distinct.addAll(used);
        if (distinct.size() < shared.size()) {
            shared.clear();
            characters = 0;
            distinct.forEach(this::keep);
        }
    }
}
