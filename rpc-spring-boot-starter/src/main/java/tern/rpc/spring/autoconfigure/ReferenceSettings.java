package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.client.MethodSettings;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.DnsEndpoints;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.transport.InMemoryTransport;
import tern.rpc.transport.Tls;
import tern.rpc.transport.Token;

/**
 * The settings that distinguish references. References with equal settings share a proxy.
 *
 * @param registry the registry that provides the endpoints; null if the endpoints are fixed
 * @param tls the reference's TLS settings; null to use the client's TLS settings
 * @param token the reference's token; null to use the client's token
 */
record ReferenceSettings(
        Class<?> type,
        ServiceKey key,
        List<Instance> endpoints,
        @Nullable ReferenceRegistry registry,
        Duration resolveInterval,
        String protocol,
        MethodSettings defaults,
        Map<String, MethodSettings> methods,
        int connections,
        boolean check,
        ProviderChoice choice,
        @Nullable Supplier<Tls> tls,
        @Nullable Token token) {

    /** Returns whether the reference calls the server in the same application. */
    boolean isLocal() {
        return protocol.equals(InMemoryTransport.PROTOCOL);
    }

    /**
     * Creates the reference.
     *
     * @param source finds the addresses of the providers
     * @param beans returns the load balancer bean with a given name; null if there is none
     * @param fallback answers calls that no provider answers; null for no fallback
     */
    ServiceReference<?> referenceFor(
            EndpointSource source,
            Function<String, Balancer.@Nullable Factory> beans,
            @Nullable Supplier<Object> fallback) {
        return referenceFor(type, source, beans, fallback);
    }

    private <T> ServiceReference<T> referenceFor(
            Class<T> service,
            EndpointSource source,
            Function<String, Balancer.@Nullable Factory> beans,
            @Nullable Supplier<Object> fallback) {
        ServiceReference.Builder<T> reference = ServiceReference.to(service, source)
                .group(key.group())
                .version(key.version())
                .protocol(protocol)
                .defaults(fitting(ServiceDescriptor.of(service)))
                .connections(connections)
                .check(check)
                .cluster(choice.settings(beans));
        ServiceDescriptor described = ServiceDescriptor.of(service);
        methods.forEach((name, settings) -> {
            // Interfaces with the same simple name share their settings, so a method in the settings might belong to
            // another interface.
            if (!described.overloads(name).isEmpty()) {
                reference.method(name, settings);
            }
        });
        if (tls != null) {
            reference.tls(tls);
        }
        if (token != null) {
            reference.token(token);
        }
        if (fallback != null) {
            reference.fallbackFrom(() -> service.cast(fallback.get()));
        }
        return reference.build();
    }

    /**
     * Returns the settings that apply to all methods. Omits the hash key if no method of the interface has a parameter
     * with this name. The hash key is then meant for another interface with the same simple name, which shares the
     * settings.
     */
    private MethodSettings fitting(ServiceDescriptor service) {
        String key = defaults.hashKey();
        boolean known = key == null
                || service.methods().stream()
                        .anyMatch(method -> method.parameterNames().contains(key));
        return known ? defaults : defaults.withHashKey(null);
    }

    /** Returns the reference's service, protocol and addresses as text for the log. */
    String describe() {
        if (isLocal()) {
            return key + " (" + protocol + ")";
        }
        String addresses = registry == null
                ? StartLine.names(endpoints.stream().map(String::valueOf).toList())
                : registry.url().toString();
        return key + " (" + protocol + " at " + addresses + ")";
    }

    /** Returns the source of the addresses: the registry, or the fixed addresses and names. */
    EndpointSource source(RpcClient client, Registries registries) {
        if (registry != null) {
            return registry.source(registries, key, protocol);
        }
        return !isLocal() && Addresses.haveNames(endpoints)
                ? new DnsEndpoints(endpoints, DnsEndpoints.Lookup.SYSTEM, client.timer(), resolveInterval)
                : StaticEndpoints.of(endpoints);
    }
}
