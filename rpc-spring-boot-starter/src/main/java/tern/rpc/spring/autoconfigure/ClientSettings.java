package tern.rpc.spring.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.client.RpcClient;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;
import tern.rpc.spring.RpcConnectionDetails;
import tern.rpc.spring.RpcReference;
import tern.rpc.transport.Tls;
import tern.rpc.transport.Token;

/**
 * The client's validated settings.
 *
 * @param url the addresses for references without their own addresses
 * @param choice how references without their own policy choose among providers
 * @param registry the registry for references without addresses; null if there is none
 * @param registryCache the directory for the last valid provider lists; null to keep no lists
 * @param registries the addresses of additional registries, by name
 * @param token the token for references without their own token
 * @param tls the references' own TLS settings, by the reference's name as written in the properties
 * @param details sources of addresses that take precedence over properties, in order
 */
record ClientSettings(
        ClientTransportSettings transport,
        Duration timeout,
        Duration checkTimeout,
        Duration resolveInterval,
        Addresses url,
        ProviderChoice choice,
        boolean waitForReady,
        @Nullable RegistryUrl registry,
        @Nullable Path registryCache,
        Map<String, RegistryUrl> registries,
        @Nullable Token token,
        Map<String, RpcClientProperties.Service> services,
        Map<String, Supplier<Tls>> tls,
        Supplier<Stream<RpcConnectionDetails>> details) {

    static final String PREFIX = "rpc.client.services.";

    static ClientSettings of(
            RpcClientProperties client,
            RpcLimitsProperties limits,
            TlsBundles bundles,
            String application,
            Supplier<Stream<RpcConnectionDetails>> details) {
        client.services().forEach(ClientSettings::check);
        String bundle = client.ssl().bundle();
        return new ClientSettings(
                transport(client, limits, application)
                        .withTls(bundle == null ? null : bundles.ofClient("rpc.client.ssl.bundle", bundle)),
                PropertyCheck.callTimeout("rpc.client.timeout", client.timeout()),
                PropertyCheck.notNegative("rpc.client.check-timeout", client.checkTimeout()),
                PropertyCheck.moreThanZero("rpc.client.resolve-interval", client.resolveInterval()),
                Registries.in("rpc.client.url", client.url()).findAny().isPresent()
                        ? Addresses.NONE
                        : Addresses.parse("rpc.client.url", client.url()),
                ProviderChoice.of(client),
                client.waitForReady(),
                registry(client),
                directory(client.registryCache()),
                registries(client),
                client.token() == null ? null : SettingCheck.usable("rpc.client.token", client.token()),
                client.services(),
                tls(client.services(), bundles),
                details);
    }

    /**
     * Returns a copy with the given timeouts, load balancing and addresses.
     *
     * @param addresses the addresses for references without their own addresses, in the form of {@code rpc.client.url}
     */
    ClientSettings with(
            Duration timeout,
            String loadBalancing,
            List<String> addresses,
            Map<String, RpcClientProperties.Service> services) {
        services.forEach(ClientSettings::check);
        return new ClientSettings(
                transport,
                timeout,
                checkTimeout,
                resolveInterval,
                Registries.in("rpc.client.url", addresses).findAny().isPresent()
                        ? Addresses.NONE
                        : Addresses.parse("rpc.client.url", addresses),
                choice.withPolicy(loadBalancing),
                waitForReady,
                registry,
                registryCache,
                registries,
                token,
                services,
                tls,
                details);
    }

    private static @Nullable RegistryUrl registry(RpcClientProperties client) {
        String set = client.registry();
        return set == null
                ? Registries.in("rpc.client.url", client.url()).findFirst().orElse(null)
                : Registries.parse("rpc.client.registry", set);
    }

    private static @Nullable Path directory(@Nullable Path cache) {
        try {
            return cache == null ? null : Files.createDirectories(cache);
        } catch (IOException e) {
            throw new InvalidPropertyException(
                    "rpc.client.registry-cache", cache, "a directory that exists or can be created (" + e + ")");
        }
    }

    private static Map<String, RegistryUrl> registries(RpcClientProperties client) {
        Map<String, RegistryUrl> registries = new TreeMap<>();
        client.registries()
                .forEach((name, url) ->
                        registries.put(uniform(name), Registries.parse("rpc.client.registries." + name, url)));
        return registries;
    }

    private static Map<String, Supplier<Tls>> tls(
            Map<String, RpcClientProperties.Service> services, TlsBundles bundles) {
        Map<String, Supplier<Tls>> tls = new TreeMap<>();
        services.forEach((name, service) -> {
            String bundle = service.ssl().bundle();
            if (bundle != null) {
                tls.put(name, bundles.ofClient(PREFIX + name + ".ssl.bundle", bundle));
            }
        });
        return tls;
    }

    private static ClientTransportSettings transport(
            RpcClientProperties client, RpcLimitsProperties limits, String application) {
        ClientTransportSettings defaults = ClientTransportSettings.named(application);
        return new ClientTransportSettings(
                application,
                PropertyCheck.moreThanZero("rpc.client.connect-timeout", client.connectTimeout()),
                defaults.reconnectMin(),
                PropertyCheck.moreThanZero("rpc.client.reconnect-max", client.reconnectMax()),
                PropertyCheck.moreThanZero("rpc.client.heartbeat", client.heartbeat()),
                defaults.probeAfter(),
                defaults.probeTimeout(),
                PropertyCheck.between("rpc.limits.max-calls-per-connection", limits.maxCallsPerConnection(), 1, 65_536),
                SettingCheck.atLeast(
                                "rpc.limits.max-unsent",
                                limits.maxUnsent(),
                                ServerSettings.maxRequestProperty(limits),
                                DataSize.ofBytes(ServerSettings.maxRequestBytes(limits)))
                        .toBytes(),
                ServerSettings.maxRequestBytes(limits),
                ServerSettings.maxResponseBytes(limits),
                null);
    }

    private static void check(String name, RpcClientProperties.Service service) {
        String prefix = PREFIX + name;
        if (Registries.in(prefix + ".url", service.url()).findAny().isEmpty()) {
            Addresses.parse(prefix + ".url", service.url());
        }
        checkTimeout(prefix, service.timeout());
        if (service.token() != null) {
            SettingCheck.usable(prefix + ".token", service.token());
        }
        if (service.connections() != null) {
            PropertyCheck.between(prefix + ".connections", service.connections(), 0, 1_024);
        }
        service.methods()
                .forEach((method, settings) -> checkTimeout(prefix + ".methods." + method, settings.timeout()));
    }

    /**
     * Returns the settings for choosing among providers: the client's settings, and the settings of each service in the
     * properties.
     */
    List<ProviderChoice> choices() {
        return Stream.concat(
                        Stream.of(choice),
                        services.entrySet().stream()
                                .map(service -> choice.with(service.getValue(), PREFIX + service.getKey())))
                .toList();
    }

    private static void checkTimeout(String prefix, @Nullable Duration timeout) {
        if (timeout != null) {
            PropertyCheck.callTimeout(prefix + ".timeout", timeout);
        }
    }

    void applyTo(RpcClient.Builder client) {
        client.timeout(timeout).checkTimeout(checkTimeout);
        if (token != null) {
            client.token(token);
        }
    }

    /**
     * Combines a reference's annotation with the properties. Properties take precedence over the annotation.
     *
     * @param placeholders replaces placeholders in the annotation
     * @param where the place of the annotation, for error messages
     */
    ReferenceSettings reference(
            Class<?> type, RpcReference annotation, UnaryOperator<String> placeholders, String where) {
        return new AnnotatedReference(this, type, annotation, placeholders, where).settings();
    }

    /** Returns the service that a reference calls. */
    ServiceKey key(Class<?> type, RpcReference annotation, UnaryOperator<String> placeholders) {
        RpcClientProperties.Service service =
                configured(nameOf(type, annotation, placeholders)).getValue();
        return new ServiceKey(
                ServiceDescriptor.nameOf(type),
                either(service.group(), placeholders.apply(annotation.group())),
                either(service.version(), placeholders.apply(annotation.version())));
    }

    /** Returns the name that identifies a reference's settings. */
    static String nameOf(Class<?> type, RpcReference annotation, UnaryOperator<String> placeholders) {
        String name = placeholders.apply(annotation.name());
        return name.isEmpty() ? type.getSimpleName() : name;
    }

    /** Returns the settings for the given name, together with the name as written in the properties. */
    Map.Entry<String, RpcClientProperties.Service> configured(String name) {
        return services.entrySet().stream()
                .filter(entry -> uniform(entry.getKey()).equals(uniform(name)))
                .findFirst()
                .orElse(Map.entry(name, RpcClientProperties.Service.NONE));
    }

    /** Returns the name in lower case and without separators, for comparisons. */
    static String uniform(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[-_.]", "");
    }

    /**
     * Returns the declared method that a name in the settings refers to. Case, dashes and underscores can differ,
     * because the name of an environment variable does not preserve them. Returns the given name unchanged if it
     * matches no method or matches several methods equally well.
     */
    static String methodNamed(String written, Collection<String> declared) {
        if (declared.contains(written)) {
            return written;
        }
        List<String> fitting = declared.stream()
                .filter(name -> uniform(name).equals(uniform(written)))
                .distinct()
                .toList();
        return fitting.size() == 1 ? fitting.get(0) : written;
    }

    /** Returns the value from the properties; if the properties have no value, returns the annotation's value. */
    static <T> T either(@Nullable T configured, T annotated) {
        return configured == null ? annotated : configured;
    }
}
