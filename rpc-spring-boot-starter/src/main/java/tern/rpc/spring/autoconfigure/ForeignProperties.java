package tern.rpc.spring.autoconfigure;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

/**
 * What Dubbo and its like call things that applications write below {@code rpc.} when they move here, each with the name
 * that it has here.
 */
final class ForeignProperties {

    private static final String ADDRESSES = "rpc.client.url, or rpc.client.services.<name>.url for one service, has the"
            + " addresses of the providers";
    private static final String PROVIDER =
            "rpc.server has what concerns a provider, and rpc.client.timeout is the time" + " of a call";
    private static final String CONSUMER =
            "rpc.client has what concerns a consumer, and rpc.client.services.<name> that of" + " one service";
    private static final String PROTOCOL = "rpc.server.port is the port of every protocol";
    private static final String REFERENCE = "rpc.client.services.<name> has the settings of a reference";

    private static final Map<String, String> MEANT = Map.ofEntries(
            Map.entry("registry", ADDRESSES),
            Map.entry("registries", ADDRESSES),
            Map.entry("provider", PROVIDER),
            Map.entry("providers", PROVIDER),
            Map.entry("consumer", CONSUMER),
            Map.entry("consumers", CONSUMER),
            Map.entry("protocol", PROTOCOL),
            Map.entry("protocols", PROTOCOL),
            Map.entry("reference", REFERENCE),
            Map.entry("references", REFERENCE),
            Map.entry("application", "spring.application.name is the name that peers are told"),
            Map.entry("scan", "beans with @RpcService are found as all beans of Spring are"),
            Map.entry("configcenter", "Spring's own sources of properties are read"),
            Map.entry("metadatareport", "no metadata center is needed"));

    /** In this order: what is told of a provider or a protocol is mostly the server's. */
    private static final Map<String, String> ROOTS =
            Map.of("provider", "rpc.server.", "protocol", "rpc.server.", "consumer", "rpc.client.");

    private ForeignProperties() {}

    /** What to write instead of a name that begins with a root of another framework; null when it does not. */
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
