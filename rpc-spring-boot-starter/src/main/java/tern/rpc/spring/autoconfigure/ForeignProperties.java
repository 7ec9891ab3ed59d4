package tern.rpc.spring.autoconfigure;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

/**
 * Maps property names of Dubbo and similar frameworks to Tern's names. During a migration, such names are sometimes
 * used under {@code rpc.} by mistake.
 */
final class ForeignProperties {

    private static final String REGISTRY = "rpc.server.registry and rpc.client.registry have the address of a registry,"
            + " such as zookeeper://host:2181; without one, rpc.client.url has the addresses of the providers";
    private static final String PROVIDER =
            "rpc.server has the settings of a provider, and rpc.client.timeout is the time" + " of a call";
    private static final String CONSUMER =
            "rpc.client has the settings of a consumer, and rpc.client.services.<name> the settings of"
                    + " one service";
    private static final String PROTOCOL = "rpc.server.port is the port of every protocol";
    private static final String REFERENCE = "rpc.client.services.<name> has the settings of a reference";

    private static final Map<String, String> MEANT = Map.ofEntries(
            Map.entry("registry", REGISTRY),
            Map.entry("registries", REGISTRY),
            Map.entry("provider", PROVIDER),
            Map.entry("providers", PROVIDER),
            Map.entry("consumer", CONSUMER),
            Map.entry("consumers", CONSUMER),
            Map.entry("protocol", PROTOCOL),
            Map.entry("protocols", PROTOCOL),
            Map.entry("reference", REFERENCE),
            Map.entry("references", REFERENCE),
            Map.entry("application", "spring.application.name is the name that peers see"),
            Map.entry("scan", "beans with @RpcService are found as all beans of Spring are"),
            Map.entry("configcenter", "Spring's own sources of properties are read"),
            Map.entry("metadatareport", "the registry has the metadata, too"));

    /**
     * Tern's property prefix for each property prefix of other frameworks. Most provider and protocol settings belong
     * to the server.
     */
    private static final Map<String, String> ROOTS =
            Map.of("provider", "rpc.server.", "protocol", "rpc.server.", "consumer", "rpc.client.");

    private static final String OF_A_SERVICE = "rpc.client.services.<name>.";
    static final String REPEATED = "nothing is repeated unless @RpcMethod(idempotent = true) or"
            + " rpc.client.services.<name>.methods.<method>.idempotent says that it may be";
    private static final String BALANCING = "rpc.client.load-balancing and rpc.client.services.<name>"
            + ".load-balancing choose it: p2c, round-robin, consistent-hash or the name of a bean";
    private static final String THREADS = "rpc.server.threads has the worker threads";
    private static final String FILTERS = "beans of ClientFilter and ServerFilter are the filters";

    /**
     * Dubbo's options for consumers, providers and references that Tern handles differently. The value of each entry
     * describes Tern's alternative.
     */
    private static final Map<String, String> OPTIONS = Map.ofEntries(
            Map.entry("check", OF_A_SERVICE + "check and @RpcReference(check = …) have it for one service"),
            Map.entry(
                    "connections",
                    OF_A_SERVICE + "connections and @RpcReference(connections = …) have it for one service"),
            Map.entry("group", OF_A_SERVICE + "group, @RpcReference(group = …) and @RpcService(group = …) have it"),
            Map.entry(
                    "version",
                    OF_A_SERVICE + "version, @RpcReference(version = …) and @RpcService(version = …) have it"),
            Map.entry("methods", OF_A_SERVICE + "methods.<method> has the settings of a method"),
            Map.entry("retries", REPEATED),
            Map.entry("cluster", REPEATED),
            Map.entry("tag", "rpc.server.advertise.tag is the tag of a provider"),
            Map.entry("weight", "the address of a provider has its weight, such as host:port?weight=50"),
            Map.entry(
                    "warmup",
                    "rpc.server.advertise.warmup is the time for consumers of Dubbo; Tern's own ramp up new"
                            + " providers by themselves"),
            Map.entry("register", "without rpc.server.registry nothing is registered"),
            Map.entry("sticky", "rpc.client.load-balancing=consistent-hash sends calls with one key to one provider"),
            Map.entry("forks", REPEATED),
            Map.entry("loadbalance", BALANCING),
            Map.entry("loadbalancer", BALANCING),
            Map.entry("threadpool", THREADS),
            Map.entry("iothreads", "rpc.server.io-threads has the threads of the event loops"),
            Map.entry("queues", "rpc.server.queue-capacity has the calls that may wait for a thread"),
            Map.entry("executes", "rpc.server.max-concurrency has the calls that may run at once"),
            Map.entry("actives", "rpc.server.max-concurrency has the calls that may run at once, on the provider"),
            Map.entry("accepts", "rpc.limits.max-connections has the connections"),
            Map.entry("payload", "rpc.limits.max-message has the bytes of a message"),
            Map.entry("host", "rpc.server.address has the address to listen on"),
            Map.entry("filter", FILTERS),
            Map.entry("filters", FILTERS),
            Map.entry("interceptors", FILTERS),
            Map.entry(
                    "mock",
                    "a bean with @RpcFallback answers calls that no provider takes; tern-rpc-test is for tests"),
            Map.entry("lazy", "connections are made in the background, and the application starts without providers"),
            Map.entry("async", "a method that returns a CompletableFuture is asynchronous"),
            Map.entry(
                    "serialization",
                    "the peer's wire decides: hessian2 for dubbo and Triple, protobuf for gRPC, JSON for HTTP"),
            Map.entry("protocol", "rpc.server.port is the port of every protocol, and an address names the client's"));

    /** Spring Boot's options under {@code server.ssl}. Tern uses SSL bundles instead. */
    private static final Set<String> TLS = Set.of(
            "enabled",
            "certificate",
            "certificateprivatekey",
            "ciphers",
            "enabledprotocols",
            "keyalias",
            "keypassword",
            "keystore",
            "keystorepassword",
            "keystoreprovider",
            "keystoretype",
            "protocol",
            "trustcertificate",
            "trustcertificateprivatekey",
            "truststore",
            "truststorepassword",
            "truststoreprovider",
            "truststoretype");

    private ForeignProperties() {}

    /**
     * If an option of Dubbo or a TLS option of Spring Boot was written under one of Tern's property prefixes, returns
     * Tern's alternative to this option. Returns null if the name is not a known option.
     */
    static @Nullable String insteadOfOption(ConfigurationPropertyName name) {
        ConfigurationPropertyName parent = name.getParent();
        if (parent.getLastElement(Form.UNIFORM).equals("ssl") && TLS.contains(name.getLastElement(Form.UNIFORM))) {
            return parent + ".bundle names a bundle under spring.ssl.bundle, which has keys and certificates, and"
                    + " switches TLS on";
        }
        return OPTIONS.get(name.getLastElement(Form.UNIFORM));
    }

    /**
     * Returns Tern's alternative to a property that begins with the property prefix of another framework. Returns null
     * if there is none.
     */
    static @Nullable String insteadOf(ConfigurationPropertyName name, KnownProperties known) {
        String root = name.getElement(1, Form.UNIFORM);
        String meant = MEANT.get(root);
        String ours = ROOTS.get(root);
        if (meant == null || ours == null) {
            return meant;
        }
        String rest = name.toString().substring(name.chop(2).toString().length() + 1);
        String same = ours + rest;
        return ConfigurationPropertyName.isValid(same) && known.contains(ConfigurationPropertyName.of(same))
                ? "here it is " + same
                : meant;
    }
}
