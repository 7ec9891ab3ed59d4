package tern.rpc.registry;

import java.util.List;
import java.util.Map;
import tern.rpc.ServiceKey;

/**
 * The registration of a process as a provider. The registration contains no tokens or other secrets.
 *
 * @param application the application name
 * @param host the address to which consumers connect; an IPv6 address has no brackets
 * @param protocols the protocols on the port, such as {@code dubbo} and {@code tri}; the first protocol is preferred
 * @param attributes other attributes of the process for consumers, such as {@value #ZONE}; any value is allowed
 * @param warmupMillis the time after the start during which the weight grows to its full value, or 0 for no warm-up
 * @param startedAtMillis the start of the process in milliseconds since 1970
 */
public record Registration(
        String application,
        String host,
        int port,
        List<String> protocols,
        List<Service> services,
        Map<String, String> attributes,
        long warmupMillis,
        long startedAtMillis) {

    /** The attribute that contains the provider's zone. */
    public static final String ZONE = "zone";

    /**
     * A service that the process offers.
     *
     * @param methods the distinct method names in alphabetical order
     * @param weight the share of calls relative to other providers
     */
    public record Service(ServiceKey key, List<String> methods, int weight) {

        public Service {
            methods = methods.stream().distinct().sorted().toList();
        }
    }

    public Registration {
        protocols = List.copyOf(protocols);
        services = List.copyOf(services);
        attributes = Map.copyOf(attributes);
        if (application.isBlank() || protocols.isEmpty()) {
            throw new IllegalArgumentException("a registration needs the name of an application and a protocol");
        }
    }

    /** Returns {@code host:port}, with brackets around an IPv6 address. */
    public String address() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }

    @Override
    public String toString() {
        return application + " at " + address() + " with " + services.size() + " services";
    }
}
