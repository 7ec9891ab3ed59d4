package tern.rpc.spring.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tern.rpc.registry.Subscription.Level;
import tern.rpc.transport.Token;

/**
 * The properties under {@code rpc.client}.
 *
 * @param url Addresses of providers for references without their own addresses, as host:port or dubbo://host:port, each
 *     optionally with ?weight=50, or local for the server of the same application.
 * @param timeout Maximum time of a call, including all attempts. Does not apply to streaming methods.
 * @param connectTimeout Timeout of one attempt to connect.
 * @param heartbeat Time without received data after which a heartbeat is sent on a connection.
 * @param reconnectMax Maximum pause between attempts to connect to a provider that cannot be reached.
 * @param checkTimeout Maximum time that startup waits for the provider of a reference whose check is true.
 * @param resolveInterval Time after which host names are resolved again.
 * @param loadBalancing Choice among several providers: p2c, round-robin, consistent-hash, or the name of a bean of type
 *     Balancer.Factory.
 * @param zone Zone of this application. Providers in this zone are preferred. Default: none.
 * @param subset Maximum number of providers of one service to which this application connects; 0 for all.
 * @param waitForReady Whether calls that find no provider wait for one within their timeout.
 * @param token Token sent to providers with every call. Only TLS keeps it secret in transit. Default: none.
 * @param ssl TLS for connections to providers.
 * @param registry Address of the registry for references that set neither addresses nor a registry, if rpc.client.url
 *     is empty. Default: none.
 * @param registryCache Directory for the last valid list of providers of each service, so that the application can
 *     start while its registry cannot be reached. Default: no list is kept.
 * @param registries Addresses of additional registries, by the name that references use.
 * @param services Settings of references, by their name or by the simple name of their interface.
 */
@ConfigurationProperties("rpc.client")
record RpcClientProperties(
        @DefaultValue List<String> url,
        @DefaultValue("3s") Duration timeout,
        @DefaultValue("3s") Duration connectTimeout,
        @DefaultValue("60s") Duration heartbeat,
        @DefaultValue("30s") Duration reconnectMax,
        @DefaultValue("3s") Duration checkTimeout,
        @DefaultValue("30s") Duration resolveInterval,
        @DefaultValue("p2c") String loadBalancing,
        @Nullable String zone,
        @DefaultValue("100") int subset,
        @DefaultValue("false") boolean waitForReady,
        @Nullable Token token,
        @DefaultValue Ssl ssl,
        @Nullable String registry,
        @Nullable Path registryCache,
        @DefaultValue Map<String, String> registries,
        @DefaultValue Map<String, Service> services) {

    RpcClientProperties {
        loadBalancing = ProviderChoice.policyOf(loadBalancing);
        zone = SettingCheck.blankToNull(zone);
        registry = SettingCheck.blankToNull(registry);
        registries = new LinkedHashMap<>(registries);
        registries.values().removeIf(String::isBlank);
    }

    /**
     * TLS for connections to providers.
     *
     * @param bundle SSL bundle with the trusted authorities, and with key and certificate of the client if providers
     *     require them. Default: no TLS.
     */
    record Ssl(@Nullable String bundle) {

        static final Ssl NONE = new Ssl(null);
    }

    /**
     * The settings of one reference.
     *
     * @param url Addresses of providers, as host:port or dubbo://host:port, each optionally with ?weight=50, or local
     *     for the server of the same application.
     * @param group Group of the export to call.
     * @param version Version of the export to call.
     * @param timeout Maximum time of a call, including all attempts. Does not apply to streaming methods.
     * @param connections Number of connections to each provider that only this reference uses; 0 to share one
     *     connection with other references.
     * @param check Whether the application fails to start if no provider can be reached.
     * @param loadBalancing Choice among several providers.
     * @param tag Default tag of calls. Providers with this tag get these calls.
     * @param waitForReady Whether calls that find no provider wait for one within their timeout.
     * @param hashKey Name of the argument whose value selects the provider with consistent-hash.
     * @param hedging Whether slow calls to idempotent methods are also sent to a second provider.
     * @param token Token that is sent to the providers of this service. Default: the token of the client.
     * @param ssl TLS for connections to the providers of this service.
     * @param registry Address or name of the registry of this service.
     * @param providedBy Names of the applications that offer the service.
     * @param level Level of the registry's entries to use.
     * @param methods Settings of methods, by name.
     */
    record Service(
            @DefaultValue List<String> url,
            @Nullable String group,
            @Nullable String version,
            @Nullable Duration timeout,
            @Nullable Integer connections,
            @Nullable Boolean check,
            @Nullable String loadBalancing,
            @Nullable String tag,
            @Nullable Boolean waitForReady,
            @Nullable String hashKey,
            @Nullable Boolean hedging,
            @Nullable Token token,
            @DefaultValue Ssl ssl,
            @Nullable String registry,
            @DefaultValue List<String> providedBy,
            @Nullable Level level,
            @DefaultValue Map<String, Method> methods) {

        static final Service NONE = new Service(
                List.of(), null, null, null, null, null, null, null, null, null, null, null, Ssl.NONE, null, List.of(),
                null, Map.of());

        Service {
            loadBalancing = SettingCheck.blankToNull(loadBalancing);
            tag = SettingCheck.blankToNull(tag);
            hashKey = SettingCheck.blankToNull(hashKey);
            registry = SettingCheck.blankToNull(registry);
        }

        Service with(
                List<String> url,
                @Nullable Duration timeout,
                @Nullable String loadBalancing,
                Map<String, Method> methods) {
            return new Service(
                    url,
                    group,
                    version,
                    timeout,
                    connections,
                    check,
                    loadBalancing,
                    tag,
                    waitForReady,
                    hashKey,
                    hedging,
                    token,
                    ssl,
                    registry,
                    providedBy,
                    level,
                    methods);
        }
    }

    /**
     * The settings of one method, including all its overloads.
     *
     * @param timeout Maximum time of a call, including all attempts.
     * @param idempotent Whether a call may be repeated even if it may have run.
     * @param oneWay Whether callers do not wait for an answer.
     * @param waitForReady Whether calls that find no provider wait for one within their timeout.
     * @param hashKey Name of the argument whose value selects the provider with consistent-hash.
     * @param hedging Whether slow calls are also sent to a second provider; only for idempotent methods.
     */
    record Method(
            @Nullable Duration timeout,
            @Nullable Boolean idempotent,
            @Nullable Boolean oneWay,
            @Nullable Boolean waitForReady,
            @Nullable String hashKey,
            @Nullable Boolean hedging) {

        static final Method NONE = new Method(null, null, null, null, null, null);

        Method {
            hashKey = SettingCheck.blankToNull(hashKey);
        }

        Method with(@Nullable Duration timeout) {
            return new Method(timeout, idempotent, oneWay, waitForReady, hashKey, hedging);
        }
    }
}
