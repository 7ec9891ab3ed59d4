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

    /** Returns Tern's alternative to a TLS option of Spring Boot's web server. Returns null for any other name. */
    static @Nullable String insteadOfTls(ConfigurationPropertyName name) {
        ConfigurationPropertyName parent = name.getParent();
        return parent.getLastElement(Form.UNIFORM).equals("ssl") && TLS.contains(name.getLastElement(Form.UNIFORM))
                ? parent + ".bundle names a bundle under spring.ssl.bundle, which has keys and certificates, and"
                        + " switches TLS on"
                : null;
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
