package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Finds properties that have no effect because of other properties. Lists these properties in one warning at startup,
 * because users would not notice them otherwise.
 */
final class UnusedSettings {

    private static final Logger LOG = LoggerFactory.getLogger(UnusedSettings.class);

    /**
     * The load balancing policies that do not use a call's hash key. A policy that the application defines as a bean
     * can use the hash key.
     */
    private static final Set<String> WITHOUT_KEY = Set.of("p2c", "round-robin");

    private static final String FILE = "file:";
    private static final String ONLY_ZOOKEEPER = "only a registry in ZooKeeper uses it";
    private static final String CONSOLE = "tern.rpc.console.RpcConsoleAutoConfiguration";

    /**
     * The properties of a web server that have an RPC property with the same meaning. The value is the RPC property.
     */
    private static final Map<String, String> WEB_SERVER = new TreeMap<>(Map.of(
            "server.port", "the port of the RPC server is rpc.server.port",
            "server.address", "the address of the RPC server is rpc.server.address",
            "server.servlet.context-path", "paths of RPC calls have no prefix",
            "server.shutdown", "the RPC server always drains, for at most rpc.server.shutdown-timeout",
            "server.ssl.bundle", "the SSL bundle of the RPC server is rpc.server.ssl.bundle",
            "server.tomcat.threads.max", "the number of threads for RPC calls is rpc.server.threads",
            "server.tomcat.max-connections", "the limit of the RPC server is rpc.limits.max-connections",
            "server.compression.enabled", "ServerContext.compressResponse compresses an answer",
            "server.http2.enabled", "the RPC port always serves HTTP/2"));

    private static final String NEEDS_SERVER_REGISTRY = "needs rpc.server.registry";

    private final Environment environment;
    private final RpcClientProperties client;
    private final List<String> found = new ArrayList<>();

    private UnusedSettings(Environment environment, RpcClientProperties client) {
        this.environment = environment;
        this.client = client;
    }

    /** Returns each property that has no effect, together with the reason. */
    static List<String> find(
            Environment environment,
            RpcServerProperties server,
            RpcClientProperties client,
            RpcLimitsProperties limits) {
        UnusedSettings unused = new UnusedSettings(environment, client);
        unused.addServer(server);
        unused.addRegistries();
        client.services().forEach(unused::addService);
        unused.addRepeatedServices();
        if (limits.maxRequest() != null && limits.maxResponse() != null) {
            unused.add("max-request and max-response replace it", "rpc.limits.max-message");
        }
        if (!ClassUtils.isPresent(CONSOLE, UnusedSettings.class.getClassLoader())) {
            unused.add("needs tern-rpc-console", "rpc.console.call-in-production");
        }
        return List.copyOf(unused.found);
    }

    /**
     * Returns the properties that have no effect on their reference, each with the reason. This check runs after the
     * references have been created, because the address and the registry of a reference are known only then.
     *
     * @param references the references by the name of their properties
     */
    static List<String> find(
            Environment environment, RpcClientProperties client, Map<String, Set<ReferenceSettings>> references) {
        UnusedSettings unused = new UnusedSettings(environment, client);
        unused.addReferences(references);
        return List.copyOf(unused.found);
    }

    /**
     * Returns the properties of a web server, each with the reason why it has no effect. Called only if the application
     * has no web server. Port 0 is ignored, because Spring Boot itself sets this port in tests.
     */
    static List<String> ofWebServer(Environment environment) {
        List<String> found = new ArrayList<>();
        WEB_SERVER.forEach((property, instead) -> {
            String value = value(environment, property);
            if (value != null && !value.equals("0")) {
                found.add(property + " (the application has no web server; " + instead + ")");
            }
        });
        return found;
    }

    /** Returns the value of a property; null if the property is not set, or contains a placeholder without a value. */
    private static @Nullable String value(Environment environment, String property) {
        try {
            return environment.getProperty(property);
        } catch (RuntimeException e) {
            // An invalid value is ignored, because only a web server needs this property.
            return null;
        }
    }

    static void log(List<String> unused) {
        if (!unused.isEmpty()) {
            LOG.warn("Settings without effect: {}", String.join("; ", unused));
        }
    }

    private void addServer(RpcServerProperties server) {
        if (server.registry().isEmpty()) {
            for (String name : List.of("host", "port", "network", "zone", "tag", "warmup")) {
                add(NEEDS_SERVER_REGISTRY, "rpc.server.advertise." + name);
            }
            for (String name : List.of("required", "level", "node-per-protocol", "metadata-type")) {
                add(NEEDS_SERVER_REGISTRY, "rpc.server.registry." + name);
            }
        } else if (server.registry().stream().allMatch(url -> url.trim().startsWith(FILE))) {
            add(
                    ONLY_ZOOKEEPER,
                    "rpc.server.advertise.warmup",
                    "rpc.server.registry.level",
                    "rpc.server.registry.node-per-protocol",
                    "rpc.server.registry.metadata-type");
        }
        if (server.cors().allowedOrigins().isEmpty()) {
            add(
                    "needs rpc.server.cors.allowed-origins",
                    "rpc.server.cors.allowed-headers",
                    "rpc.server.cors.allowed-headers[0]",
                    "rpc.server.cors.allow-credentials",
                    "rpc.server.cors.max-age");
        }
    }

    /**
     * Adds services whose names appear in two spellings. Only the properties under one of the spellings have an effect.
     */
    private void addRepeatedServices() {
        Map<String, String> names = new HashMap<>();
        for (String name : client.services().keySet()) {
            String used = names.putIfAbsent(ClientSettings.uniform(name), name);
            if (used != null) {
                found.add(ClientSettings.PREFIX + name + " (" + ClientSettings.PREFIX + used
                        + " is the same service, and only one of the two is used)");
            }
        }
    }

    private void addReferences(Map<String, Set<ReferenceSettings>> references) {
        List<ReferenceSettings> all =
                references.values().stream().flatMap(Set::stream).toList();
        if (all.stream().allMatch(reference -> reference.registry() == null)) {
            add("no reference uses a registry", "rpc.client.registry-cache");
        }
        if (!all.isEmpty() && all.stream().noneMatch(ReferenceSettings::check)) {
            add("no reference has check", "rpc.client.check-timeout");
        }
        if (!all.isEmpty()
                && all.stream()
                        .noneMatch(reference -> !reference.isLocal() && Addresses.haveNames(reference.endpoints()))) {
            add("no reference uses a host name", "rpc.client.resolve-interval");
        }
        client.services().forEach((name, service) -> {
            Set<ReferenceSettings> own = references.getOrDefault(name, Set.of());
            if (!own.isEmpty()) {
                addReferences(ClientSettings.PREFIX + name + ".", service, own);
            }
        });
    }

    private void addReferences(String prefix, RpcClientProperties.Service service, Set<ReferenceSettings> references) {
        found.addAll(SettingsOfNoMethod.find(prefix, service, references));
        boolean registry = references.stream().anyMatch(reference -> reference.registry() != null);
        boolean own = !service.url().isEmpty() && service.registry() == null;
        if (!registry && !own) {
            addRegistry("no registry is used", prefix, service);
        } else if (registry && references.stream().allMatch(UnusedSettings::isFile)) {
            addRegistry(ONLY_ZOOKEEPER, prefix, service);
        }
        if (references.stream().allMatch(reference -> reference.protocol().equals("http"))) {
            addIf(
                    service.connections() != null && service.connections() > 0,
                    "with http, each call that runs has a connection",
                    prefix + "connections");
        }
        if (references.stream().allMatch(ReferenceSettings::isLocal)) {
            String reason = "calls to local use no connection";
            addIf(service.connections() != null, reason, prefix + "connections");
            addIf(service.check() != null, reason, prefix + "check");
            addIf(service.loadBalancing() != null, reason, prefix + "load-balancing");
            addIf(service.ssl().bundle() != null, reason, prefix + "ssl.bundle");
        }
    }

    private void addRegistry(String reason, String prefix, RpcClientProperties.Service service) {
        addIf(!service.providedBy().isEmpty(), reason, prefix + "provided-by");
        addIf(service.level() != null, reason, prefix + "level");
    }

    private static boolean isFile(ReferenceSettings reference) {
        return reference.registry() != null
                && reference.registry().url().scheme().equals("file");
    }

    private void addIf(boolean unused, String reason, String property) {
        if (unused) {
            found.add(property + " (" + reason + ")");
        }
    }

    private void addRegistries() {
        if (client.registry() != null && !client.url().isEmpty()) {
            boolean two = client.url().stream().anyMatch(Registries::isRegistry);
            String used = two ? "rpc.client.registry" : "rpc.client.url";
            found.add((two ? "rpc.client.url" : "rpc.client.registry") + " (" + used + " takes precedence)");
        }
        for (String name : client.registries().keySet()) {
            boolean used = client.services().values().stream()
                    .map(RpcClientProperties.Service::registry)
                    .filter(Objects::nonNull)
                    .anyMatch(registry -> ClientSettings.uniform(registry).equals(ClientSettings.uniform(name)));
            if (!used) {
                found.add("rpc.client.registries." + name + " (no rpc.client.services.<name>.registry names it)");
            }
        }
    }

    private void addService(String name, RpcClientProperties.Service service) {
        String prefix = "rpc.client.services." + name + ".";
        if (service.registry() != null && !service.url().isEmpty()) {
            found.add(prefix + "url (" + prefix + "registry takes precedence)");
        } else if (!service.url().isEmpty() && service.url().stream().noneMatch(Registries::isRegistry)) {
            String reason = " (" + prefix + "url names providers, not a registry)";
            if (!service.providedBy().isEmpty()) {
                found.add(prefix + "provided-by" + reason);
            }
            if (service.level() != null) {
                found.add(prefix + "level" + reason);
            }
        }
        String policy = service.loadBalancing() == null ? client.loadBalancing() : service.loadBalancing();
        if (WITHOUT_KEY.contains(policy.toLowerCase(Locale.ROOT).replace('_', '-'))) {
            keys(prefix, service)
                    .forEach(property -> found.add(property + " (load balancing is " + policy
                            + ", and only consistent-hash or a bean uses a key)"));
        }
    }

    private static Stream<String> keys(String prefix, RpcClientProperties.Service service) {
        Stream<String> ofMethods = service.methods().entrySet().stream()
                .filter(method -> method.getValue().hashKey() != null)
                .map(Map.Entry::getKey)
                .map(method -> prefix + "methods." + method + ".hash-key");
        return service.hashKey() == null ? ofMethods : Stream.concat(Stream.of(prefix + "hash-key"), ofMethods);
    }

    /** Returns whether the property has a value. A blank value counts as not set. */
    private boolean isSet(String property) {
        String value = environment.getProperty(property);
        return value != null && !value.isBlank();
    }

    private void add(String reason, String... properties) {
        for (String property : properties) {
            if (isSet(property)) {
                found.add(property + " (" + reason + ")");
            }
        }
    }
}
