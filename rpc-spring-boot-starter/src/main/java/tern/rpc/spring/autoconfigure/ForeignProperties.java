package tern.rpc.spring.autoconfigure;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

/**
 * Maps property names of Dubbo and similar frameworks to Tern's names. During a migration, users sometimes write such
 * names under {@code rpc.} by mistake.
 */
final class ForeignProperties {

    private static final String REGISTRY = "rpc.server.registry and rpc.client.registry set the address of a registry,"
            + " such as zookeeper://host:2181; without a registry, rpc.client.url sets the addresses of the providers";
    private static final String PROVIDER =
            "the settings of a provider are below rpc.server, and rpc.client.timeout limits the time of a call";
    private static final String CONSUMER =
            "the settings of a consumer are below rpc.client, and the settings of one service are below"
                    + " rpc.client.services.<name>";
    private static final String PROTOCOL = "rpc.server.port sets the port of all protocols";
    private static final String REFERENCE = "the settings of a reference are below rpc.client.services.<name>";

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
            Map.entry("application", "spring.application.name sets the name that peers see"),
            Map.entry("scan", "Spring finds beans with @RpcService in the same way as other beans"),
            Map.entry("configcenter", "Tern reads Spring's property sources"),
            Map.entry("metadatareport", "the registry also contains the metadata"));

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
     * Returns Tern's alternative to a property that begins with the property prefix of another framework; null if Tern
     * has no alternative.
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
