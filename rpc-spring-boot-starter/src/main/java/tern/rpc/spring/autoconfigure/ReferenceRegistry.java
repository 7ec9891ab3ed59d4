package tern.rpc.spring.autoconfigure;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.RememberedSource;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.Subscription.Level;

/**
 * The registry in which a reference finds its providers.
 *
 * @param providedBy the applications that offer the service; if empty, the registry finds them
 * @param cache the directory in which the last valid list of providers is kept; null to keep no list
 */
record ReferenceRegistry(
        RegistryUrl url,
        List<String> providedBy,
        Level level,
        @Nullable Path cache) {

    EndpointSource source(Registries registries, ServiceKey service, String protocol) {
        Subscription subscription = new Subscription(service, protocol, providedBy, level);
        EndpointSource source = registries.at(url).source(subscription);
        return cache == null ? source : RememberedSource.of(source, url, subscription, cache);
    }
}
