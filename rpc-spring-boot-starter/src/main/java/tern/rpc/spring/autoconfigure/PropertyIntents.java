package tern.rpc.spring.autoconfigure;

import static tern.rpc.spring.autoconfigure.PropertyPaths.ANY;
import static tern.rpc.spring.autoconfigure.PropertyPaths.uniform;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Property names that people expect under Tern's prefixes although they do not exist, each with the property that has
 * the intended effect. A comparison of letters would not find the right property. For example, {@code rpc.client.port}
 * resembles {@code rpc.server.port}, but the port of a provider is a part of {@code rpc.client.url}.
 */
final class PropertyIntents {

    private static final String PARENT = "{parent}";

    /**
     * An expected name.
     *
     * @param scopes the paths under which the name is expected; {@link PropertyPaths#ANY} matches any single element
     * @param leaves the expected last elements without dashes; empty to match any last element
     * @param advice the advice; {@link #PARENT} is replaced with the path of the unknown property
     */
    record Intent(List<List<String>> scopes, Set<String> leaves, String advice) {

        static Intent of(String scopes, String leaves, String advice) {
            return new Intent(
                    Arrays.stream(scopes.split(" "))
                            .map(scope -> List.of(scope.split("\\.")))
                            .toList(),
                    Arrays.stream(leaves.split(" "))
                            .map(PropertyPaths::uniform)
                            .filter(leaf -> !leaf.equals(ANY))
                            .collect(Collectors.toUnmodifiableSet()),
                    advice);
        }

        boolean fits(List<String> written) {
            List<String> parent = written.subList(0, written.size() - 1);
            return scopes.stream().anyMatch(scope -> fits(scope, parent))
                    && (leaves.isEmpty() || leaves.contains(uniform(written.get(written.size() - 1))));
        }

        private static boolean fits(List<String> scope, List<String> parent) {
            return scope.size() == parent.size()
                    && IntStream.range(0, scope.size())
                            .allMatch(i -> scope.get(i).equals(ANY)
                                    || uniform(scope.get(i)).equals(uniform(parent.get(i))));
        }
    }

    private static final String ADDRESSES =
            "address addresses host hosts server servers target targets endpoint endpoints port uri uris urls";
    private static final String CALL_TIMES = "read-timeout request-timeout call-timeout response-timeout"
            + " default-timeout socket-timeout timeout-ms deadline";
    private static final String THREADS = "max-threads min-threads worker workers worker-threads thread-count"
            + " thread-pool thread-pool-size pool-size core-pool-size max-pool-size";
    private static final String RETRIES = "retry retry-count max-retries attempts max-attempts retry-attempts";
    private static final String MESSAGES = "max-message-size max-request-size max-response-size max-body max-body-size"
            + " max-payload max-payload-size max-frame-size max-inbound-message-size message-size max-file-size"
            + " max-upload-size max-content-length";
    private static final String POOL = "size max-size core-size pool-size core-pool-size max-pool-size max-threads";

    private static final String POOL_OF_DATA_SOURCE = "the pool of a DataSource keeps its own properties, such as"
            + " spring.datasource.hikari.maximum-pool-size";
    private static final String POOL_OF_DRUID =
            "Druid keeps its own properties, such as spring.datasource.druid.max-active";
    private static final String POOL_OF_REDIS = "the clients of Spring Data Redis keep their own properties, such as"
            + " spring.data.redis.timeout; rpc.pools.jedis.url is for Jedis without Spring Data";

    private static final String UNCHECKED =
            "trust-all trust-self-signed insecure insecure-skip-verify skip-verify verify"
                    + " verification verify-hostname hostname-verification check-hostname endpoint-identification";
    private static final String NO_PROXY =
            "there is no such setting; calls go directly to the addresses of the providers, not through a proxy";
    private static final String AVOIDED =
            "there is no such setting; failing providers are avoided automatically (docs/cluster.md)";

    private static final String HEADERS =
            "there is no such setting; CallOptions sets headers for one call, and a bean of type ClientFilter sets"
                    + " headers for all calls (docs/filters.md); rpc.client.token sets the token";
    private static final String PLAIN_TEXT = "calls use TLS only if rpc.client.ssl.bundle or"
            + " rpc.client.services.<name>.ssl.bundle is set; with TLS, certificates and host names are always checked";

    private static final List<Intent> CLIENT = List.of(
            Intent.of(
                    "rpc.client",
                    ADDRESSES + " provider providers",
                    "the addresses of providers are in rpc.client.url, such as rpc.client.url=localhost:20880"),
            Intent.of(
                    "rpc.client.url rpc.client.urls rpc.client.addresses rpc.client.hosts rpc.client.providers",
                    ANY,
                    "rpc.client.url has the addresses of all services, such as rpc.client.url=localhost:20880; for one"
                            + " service, set rpc.client.services.<name>.url"),
            Intent.of(
                    "rpc.client.timeout rpc.client.timeouts",
                    ANY,
                    "rpc.client.timeout limits the calls of all services; for one service, set"
                            + " rpc.client.services.<name>.timeout"),
            Intent.of(
                    "rpc.client.services.*",
                    ADDRESSES,
                    "the addresses of its providers are in {parent}.url, such as {parent}.url=localhost:20880"),
            Intent.of(
                    "rpc.client rpc.client.services.*",
                    "protocol protocols default-protocol",
                    "the address names the protocol, such as {parent}.url=tri://localhost:20880; if the addresses come"
                            + " from a registry, @RpcReference(protocol = \"tri\") names it"),
            Intent.of(
                    "rpc.client",
                    "enabled",
                    "there is no switch for clients; an application without @RpcReference connects to no provider"),
            Intent.of(
                    "rpc.client.services.*",
                    "enabled",
                    "there is no switch for a reference; it exists where @RpcReference is"),
            Intent.of(
                    "rpc.client rpc.client.services.* rpc.client.services.*.methods.*",
                    CALL_TIMES,
                    "the time of a call is {parent}.timeout"),
            Intent.of(
                    "rpc.client rpc.client.services.* rpc.client.services.*.methods.*", RETRIES, DubboOptions.REPEATED),
            Intent.of(
                    "rpc.client rpc.client.services.* rpc.client.services.*.methods.*",
                    "fallback fallbacks fallback-class",
                    "a bean with @RpcFallback answers calls that no provider takes"),
            Intent.of(
                    "rpc.client.services.*",
                    "name id interface interface-name interface-class service service-name",
                    "the element after rpc.client.services selects the reference: it is the simple name of its"
                            + " interface, or the name in @RpcReference"),
            Intent.of(
                    "rpc.client",
                    "pool-size max-connections connection-pool-size",
                    "rpc.client.services.<name>.connections sets the number of connections to each provider of a"
                            + " service"),
            Intent.of(
                    "rpc.client.services.*",
                    "pool-size max-connections connection-pool-size",
                    "{parent}.connections sets the number of connections to each provider"),
            Intent.of(
                    "rpc.client",
                    "keep-alive keep-alive-time heartbeat-interval",
                    "rpc.client.heartbeat sets the time after which a heartbeat is sent"),
            Intent.of(
                    "rpc.client",
                    "zookeeper registry-url registry-address",
                    "rpc.client.registry sets the address of the registry, such as zookeeper://host:2181"),
            Intent.of(
                    "rpc.client.registry",
                    "enabled",
                    "there is no switch; without rpc.client.registry no provider is looked up"),
            Intent.of(
                    "rpc.client",
                    THREADS + " threads executor",
                    "clients have no worker threads; a call runs on the caller's thread"),
            Intent.of("rpc.client", "authorization auth api-key secret password", "rpc.client.token sets the token"),
            Intent.of(
                    "rpc.client.services.*.methods.* rpc.server.services.*.methods.*",
                    "name method-name",
                    "the element after methods is the name of the method"),
            Intent.of("rpc.client rpc.client.services.*", "proxy http-proxy proxy-host proxy-port", NO_PROXY),
            Intent.of("rpc.client.proxy rpc.client.services.*.proxy", ANY, NO_PROXY),
            Intent.of(
                    "rpc.client.ssl rpc.client.services.*.ssl",
                    UNCHECKED,
                    "certificates and host names are always checked; to accept a self-signed certificate, put it into"
                            + " the trust store of the bundle that {parent}.bundle names"),
            Intent.of(
                    "rpc.client rpc.client.services.* rpc.client.services.*.methods.*",
                    "header headers default-header default-headers metadata attachment attachments",
                    HEADERS),
            Intent.of(
                    "rpc.client.headers rpc.client.services.*.headers rpc.client.default-headers rpc.client.metadata"
                            + " rpc.client.attachments",
                    ANY,
                    HEADERS),
            Intent.of(
                    "rpc.client rpc.client.services.*",
                    UNCHECKED + " plaintext use-plaintext plain-text negotiation-type secure use-tls use-ssl",
                    PLAIN_TEXT),
            Intent.of(
                    "rpc.client rpc.client.services.*",
                    "compression compress gzip",
                    "there is no such setting; a client accepts compressed answers, and a method calls"
                            + " ServerContext.compressResponse for an answer to compress"),
            Intent.of(
                    "rpc.client rpc.client.services.*",
                    "username user basic-auth credentials",
                    "a client sends a token ({parent}.token); a bean of type ClientFilter can set other headers"
                            + " (docs/security.md)"),
            Intent.of("rpc.client rpc.client.services.*", "circuit-breaker circuitbreaker", AVOIDED),
            Intent.of("rpc.client.circuit-breaker rpc.client.services.*.circuit-breaker", ANY, AVOIDED));

    private static final List<Intent> SERVER = List.of(
            Intent.of("rpc.server", THREADS, "rpc.server.threads sets the number of calls that run at the same time"),
            Intent.of(
                    "rpc.server",
                    "queue queue-size queue-length max-queue max-queue-size max-queue-length backlog",
                    "rpc.server.queue-capacity sets the number of calls that may wait for a thread"),
            Intent.of(
                    "rpc.server",
                    "bind bind-address bind-host listen listen-address interface ip hostname",
                    "rpc.server.address sets the address to listen on"),
            Intent.of(
                    "rpc.server",
                    "context-path path base-path servlet-path",
                    "there is no prefix for paths; a method has the path /<interface>/<method>"),
            Intent.of(
                    "rpc.server",
                    "virtual-threads virtual",
                    "spring.threads.virtual.enabled=true runs calls on virtual threads"),
            Intent.of(
                    "rpc.server rpc.client",
                    "tls ssl https certificate",
                    "{parent}.ssl.bundle names a bundle under spring.ssl.bundle, which has keys and certificates, and"
                            + " switches TLS on"),
            Intent.of(
                    "rpc.server",
                    "shutdown graceful graceful-shutdown shutdown-wait shutdown-grace-period drain-timeout",
                    "rpc.server.shutdown-timeout sets the time that a shutdown waits for running calls"),
            Intent.of(
                    "rpc.server",
                    "authorization auth api-key secret password",
                    "rpc.server.token sets the accepted tokens"),
            Intent.of(
                    "rpc.server",
                    "rate-limit rate-limiter concurrency max-calls max-requests max-concurrent-calls",
                    "rpc.server.max-concurrency limits the number of running calls"),
            Intent.of(
                    "rpc.server",
                    "idle keep-alive keep-alive-timeout connection-timeout read-timeout",
                    "rpc.server.idle-timeout sets the time after which a connection without traffic is closed"),
            Intent.of(
                    "rpc.server.http rpc.server.http2 rpc.server.grpc rpc.server.dubbo rpc.server.tri rpc.server.triple"
                            + " rpc.server.rest",
                    "port enabled",
                    "all protocols are served on rpc.server.port; a single protocol has no port or switch"),
            Intent.of(
                    "rpc.server",
                    "http-port https-port ssl-port grpc-port dubbo-port tri-port",
                    "all protocols are served on rpc.server.port, with and without TLS"),
            Intent.of(
                    "rpc.server",
                    "queue-timeout queue-wait max-wait",
                    "rpc.server.max-queue-wait limits the time that a call waits for a thread"),
            Intent.of(
                    "rpc.server",
                    "scan scan-packages base-package base-packages packages",
                    "Spring finds beans with @RpcService in the same way as other beans; @ComponentScan names"
                            + " packages"),
            Intent.of(
                    "rpc.server rpc.client",
                    "name application-name",
                    "spring.application.name sets the name that peers see"),
            Intent.of(
                    "rpc.server rpc.client",
                    "accesslog access-log log-calls log-requests request-log logging",
                    "there is no such setting; a bean of type ServerFilter or ClientFilter can log each call"
                            + " (docs/filters.md)"),
            Intent.of("rpc.server.grpc", "reflection", "rpc.server.reflection switches reflection on"),
            Intent.of("rpc.server.grpc", "health", "rpc.server.health switches the health service off"),
            Intent.of(
                    "rpc.server rpc.client",
                    "metrics meters",
                    "there is no switch; meters exist if the application has a bean of MeterRegistry"),
            Intent.of(
                    "rpc.server.metrics rpc.client.metrics",
                    ANY,
                    "there is no such setting; meters exist if the application has a bean of MeterRegistry"),
            Intent.of(
                    "rpc.server.tracing rpc.client.tracing",
                    ANY,
                    "there is no such setting; the settings of traces are below management.tracing"),
            Intent.of(
                    "rpc.server",
                    "compression gzip",
                    "there is no switch; a method calls ServerContext.compressResponse for an answer to compress"),
            Intent.of(
                    "rpc.server.compression",
                    ANY,
                    "there is no such setting; a method calls ServerContext.compressResponse for an answer to"
                            + " compress"),
            Intent.of(
                    "rpc.server.cors",
                    "enabled",
                    "there is no switch; pages of the sites in rpc.server.cors.allowed-origins may make calls"),
            Intent.of(
                    "rpc.server.cors", "allowed-methods methods", "there is no such setting; all methods are allowed"),
            Intent.of(
                    "rpc.server.cors",
                    "exposed-headers expose-headers",
                    "there is no such setting; pages may read all headers of an answer"),
            Intent.of(
                    "rpc.server.cors",
                    "allowed-origin-patterns origins origin allowed-origin",
                    "rpc.server.cors.allowed-origins lists the sites"),
            Intent.of(
                    "rpc.server.advertise",
                    "ip address hostname",
                    "rpc.server.advertise.host sets the address to which consumers connect"),
            Intent.of("rpc.server", "zone", "rpc.server.advertise.zone sets the zone of a provider"),
            Intent.of(
                    "rpc.server",
                    "zookeeper registry-url registry-address registries",
                    "rpc.server.registry sets the address of the registry, such as zookeeper://host:2181"),
            Intent.of(
                    "rpc.server.registry",
                    "enabled",
                    "there is no switch; without rpc.server.registry nothing is registered"));

    private static final List<Intent> OTHERS = List.of(
            Intent.of(
                    "rpc.server rpc.client rpc.limits",
                    MESSAGES,
                    "rpc.limits.max-message limits the size of a message, and rpc.limits.max-request and"
                            + " rpc.limits.max-response limit the size in one direction"),
            Intent.of("rpc.limits", "timeout", "rpc.client.timeout limits the time of a call"),
            Intent.of(
                    "rpc.slo",
                    "p50 p90 p95 p99 p999 target target-latency max-latency response-time",
                    "rpc.slo.latency sets the target for the latency of a call"),
            Intent.of(
                    "rpc.slo",
                    "rate rps tps throughput calls-per-second requests-per-second",
                    "rpc.slo.qps sets the target rate in calls per second"),
            Intent.of(
                    "rpc.console",
                    "enabled",
                    "there is no such switch; management.endpoint.rpc-console.access=none switches the console off"),
            Intent.of(
                    "rpc.console",
                    "path base-path url",
                    "there is no such setting; the page is below management.endpoints.web.base-path"),
            Intent.of("rpc.pools", "enabled", "rpc.pools.tuned switches the tuning of pools off"),
            Intent.of("rpc.pools", "hikari jdbc datasource database", POOL_OF_DATA_SOURCE),
            Intent.of(
                    "rpc.pools.hikari rpc.pools.jdbc rpc.pools.datasource rpc.pools.database",
                    ANY,
                    POOL_OF_DATA_SOURCE),
            Intent.of("rpc.pools", "druid", POOL_OF_DRUID),
            Intent.of("rpc.pools.druid", ANY, POOL_OF_DRUID),
            Intent.of("rpc.pools", "redis lettuce", POOL_OF_REDIS),
            Intent.of("rpc.pools.redis rpc.pools.lettuce", ANY, POOL_OF_REDIS),
            Intent.of("rpc.pools.executors.*", POOL, "{parent}.threads sets the number of threads"),
            Intent.of(
                    "rpc.pools.executors.*",
                    "queue queue-size max-queue-size",
                    "{parent}.queue-capacity sets the number of tasks that may wait"),
            Intent.of(
                    "rpc.diagnosis",
                    "enabled",
                    "there is no such switch; rpc.server.ledger=false ends the recording of phases, and"
                            + " management.health.rpc-calls.enabled=false removes the result from the health"),
            Intent.of(
                    "rpc.logging rpc.server rpc.client",
                    "slow slow-calls slow-threshold slow-call-threshold slow-log",
                    "calls that take longer than rpc.slo.latency are logged"),
            Intent.of("rpc.logging", "level", "logging.level.tern.rpc sets the level of Tern's log"));

    static final List<Intent> ALL =
            Stream.of(CLIENT, SERVER, OTHERS).flatMap(List::stream).toList();

    private PropertyIntents() {}

    /** Returns the advice for the given property name; null if the table does not contain the name. */
    static @Nullable String adviceFor(List<String> written) {
        return adviceFor(ALL, written);
    }

    static @Nullable String adviceFor(List<Intent> intents, List<String> written) {
        return intents.stream()
                .filter(intent -> intent.fits(written))
                .findFirst()
                .map(intent ->
                        intent.advice().replace(PARENT, PropertyPaths.joined(written.subList(0, written.size() - 1))))
                .orElse(null);
    }
}
