package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.spring.autoconfigure.PropertyIntents.Intent;

/**
 * The names of Dubbo options that people use under Tern's prefixes during a migration, each with Tern's alternative. A
 * name can have different meanings for a consumer, a provider and a registry, so each entry lists the prefixes that it
 * applies to.
 */
final class DubboOptions {

    private static final String CLIENT = "rpc.client rpc.client.services.*";
    private static final String CALLS = CLIENT + " rpc.client.services.*.methods.*";
    private static final String SERVER = "rpc.server rpc.server.services.*";
    private static final String SERVED = SERVER + " rpc.server.services.*.methods.*";
    private static final String REGISTRY = "rpc.client.registry rpc.client.registries.* rpc.server.registry";
    private static final String BOTH = CALLS + " " + SERVED;

    private static final String OF_A_SERVICE = "rpc.client.services.<name>.";
    static final String REPEATED = "a call is repeated only if @RpcMethod(idempotent = true) or"
            + " rpc.client.services.<name>.methods.<method>.idempotent allows this";
    private static final String BALANCING = "rpc.client.load-balancing and rpc.client.services.<name>"
            + ".load-balancing select the policy: p2c, round-robin, consistent-hash or the name of a bean";
    private static final String RUNNING = "rpc.server.max-concurrency limits the number of running calls";

    private static final List<Intent> OF_CONSUMERS = List.of(
            Intent.of(
                    "rpc.client", "check", OF_A_SERVICE + "check and @RpcReference(check = …) set it for one service"),
            Intent.of(
                    "rpc.client",
                    "connections",
                    OF_A_SERVICE + "connections and @RpcReference(connections = …) set it for one service"),
            Intent.of(
                    "rpc.client", "group", OF_A_SERVICE + "group and @RpcReference(group = …) set it for one service"),
            Intent.of(
                    "rpc.client",
                    "version",
                    OF_A_SERVICE + "version and @RpcReference(version = …) set it for one service"),
            Intent.of(
                    "rpc.client",
                    "methods",
                    OF_A_SERVICE + "methods.<method>.timeout limits the time of calls to one method"),
            Intent.of("rpc.client", "tag", OF_A_SERVICE + "tag sets the tag of the providers that a reference calls"),
            Intent.of(
                    CLIENT,
                    "weight",
                    "{parent}.url contains the weights of the addresses, such as"
                            + " {parent}.url=host:port?weight=50; with a"
                            + " registry, the provider sets @RpcService(weight = …)"),
            Intent.of(CLIENT, "warmup", "consumers ramp up new providers by themselves"),
            Intent.of(
                    CALLS,
                    "sticky",
                    "rpc.client.load-balancing=consistent-hash sends calls with one key to one provider"),
            Intent.of(CALLS, "actives", RUNNING + ", on the provider"),
            Intent.of(
                    "rpc.client rpc.server.services.*",
                    "iothreads",
                    "rpc.server.io-threads sets the number of event loop threads"),
            Intent.of(
                    CALLS,
                    "mock",
                    "a bean with @RpcFallback answers calls that no provider takes; tern-rpc-test is for tests"),
            Intent.of(
                    CLIENT,
                    "lazy",
                    "connections are opened in the background, and the application starts without providers"));

    private static final List<Intent> OF_PROVIDERS = List.of(
            Intent.of(SERVER, "group", "set it in @RpcService(group = …)"),
            Intent.of(SERVER, "version", "set it in @RpcService(version = …)"),
            Intent.of(
                    "rpc.server",
                    "methods",
                    "rpc.server.services.<name>.methods.<method>.max-concurrency limits the calls of a method"),
            Intent.of(SERVER + " rpc.server.advertise", "weight", "set it in @RpcService(weight = …)"),
            Intent.of(SERVER, "tag", "rpc.server.advertise.tag sets the tag of a provider"),
            Intent.of(
                    SERVER,
                    "warmup",
                    "rpc.server.advertise.warmup sets the time for Dubbo's consumers; Tern's consumers ramp up new"
                            + " providers by themselves"),
            Intent.of(SERVER + " rpc.server.registry", "register", "without rpc.server.registry nothing is registered"),
            Intent.of(SERVER, "threadpool", "rpc.server.threads sets the number of worker threads"),
            Intent.of(
                    SERVER, "queues", "rpc.server.queue-capacity sets the number of calls that may wait for a thread"),
            Intent.of(SERVER, "executes actives", RUNNING),
            Intent.of("rpc.server.services.*.methods.*", "executes actives", "{parent}.max-concurrency sets the limit"),
            Intent.of("rpc.server", "host", "rpc.server.address sets the address to listen on"),
            Intent.of(
                    SERVER,
                    "protocol protocols",
                    "rpc.server.port sets the port of all protocols; a client's address names its protocol"),
            Intent.of(
                    SERVER + " rpc.limits",
                    "connections accepts",
                    "rpc.limits.max-connections limits the number of connections that a server accepts"));

    private static final List<Intent> OF_BOTH = List.of(
            Intent.of(BOTH, "retries cluster forks", REPEATED),
            Intent.of(BOTH, "loadbalance loadbalancer", BALANCING),
            Intent.of(BOTH, "async", "a method that returns a CompletableFuture is asynchronous"),
            Intent.of(
                    CLIENT + " " + SERVER + " rpc.limits",
                    "payload",
                    "rpc.limits.max-message limits the size of a message"),
            Intent.of(
                    CLIENT + " " + SERVER,
                    "filter filters interceptors",
                    "beans of the types ClientFilter and ServerFilter are the filters"),
            Intent.of(
                    CLIENT + " " + SERVER,
                    "serialization",
                    "the protocol determines the serialization: hessian2 for dubbo and Triple, protobuf for gRPC,"
                            + " JSON for HTTP"));

    private static final List<Intent> OF_REGISTRIES = List.of(
            Intent.of(
                    REGISTRY, "check", "no setting is needed; an application starts while its registry is unreachable"),
            Intent.of(
                    REGISTRY,
                    "protocol client type",
                    "the address begins with the protocol: {parent}=zookeeper://host:2181"),
            Intent.of(
                    REGISTRY,
                    "username user password",
                    "the address contains user and password: {parent}=zookeeper://user:password@host:2181"),
            Intent.of(
                    REGISTRY,
                    "group namespace root",
                    "set it as a parameter of the address: {parent}=zookeeper://host:2181?group=…"),
            Intent.of(
                    REGISTRY,
                    "timeout connect-timeout connection-timeout",
                    "set it as a parameter of the address, in milliseconds:"
                            + " {parent}=zookeeper://host:2181?timeout=3000"),
            Intent.of(
                    REGISTRY,
                    "session session-timeout",
                    "set it as a parameter of the address, in milliseconds:"
                            + " {parent}=zookeeper://host:2181?session=30000"),
            Intent.of(
                    REGISTRY,
                    "ssl tls",
                    "set it as a parameter of the address: {parent}=zookeeper://host:2181?ssl.bundle=… names a bundle"
                            + " under spring.ssl.bundle"));

    /**
     * The advice for a registry property that is not a known Dubbo option. Used only if the name is not a misspelled
     * property.
     */
    private static final Intent OF_AN_ADDRESS =
            Intent.of(REGISTRY, "*", "the address of a registry contains its settings; docs/registries.md lists them");

    static final List<Intent> ALL = Stream.of(OF_CONSUMERS, OF_PROVIDERS, OF_BOTH, OF_REGISTRIES)
            .flatMap(List::stream)
            .toList();

    private DubboOptions() {}

    /**
     * Returns Tern's alternative to a Dubbo option under the given prefix; null if the table does not contain the
     * option.
     */
    static @Nullable String insteadOf(List<String> written) {
        return PropertyIntents.adviceFor(ALL, written);
    }

    /** Returns the advice for any property of a registry; null for other properties. */
    static @Nullable String ofRegistry(List<String> written) {
        return PropertyIntents.adviceFor(List.of(OF_AN_ADDRESS), written);
    }
}
