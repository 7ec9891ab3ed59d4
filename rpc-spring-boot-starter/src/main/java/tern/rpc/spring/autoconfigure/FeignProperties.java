package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * Maps properties of Feign clients to Tern's properties. If an application used Feign before, it may still contain these
 * properties.
 */
final class FeignProperties {

    static final List<String> PREFIXES = List.of("spring.cloud.openfeign", "feign");

    private static final List<String> USERS = List.of("feign.Feign", "org.springframework.cloud.openfeign.FeignClient");

    private static final String CONFIG = "client.config.";

    /** The name that Feign uses for the properties of all clients, in its uniform spelling. */
    private static final String ALL = "default.";

    /** Maps a property of one client, without the prefix and the client's name, to Tern's property. */
    static final Map<String, String> OF_CLIENTS = Map.of(
            "url", "rpc.client.services.<name>.url",
            "read-timeout", "rpc.client.services.<name>.timeout",
            "connect-timeout", "rpc.client.connect-timeout");

    /** Maps a property of all clients, without the prefix, to Tern's property. */
    static final Map<String, String> OF_ALL = Map.of(
            "url", "rpc.client.url",
            "read-timeout", "rpc.client.timeout",
            "connect-timeout", "rpc.client.connect-timeout");

    private FeignProperties() {}

    /** Returns whether the class path contains Feign, which may read the properties. */
    static boolean mayBeRead(@Nullable ClassLoader loader) {
        return USERS.stream().anyMatch(name -> ClassUtils.isPresent(name, loader));
    }

    /** Returns Tern's property for a property of Feign; null if no property has the same meaning. */
    static @Nullable String ours(String name) {
        int config = name.indexOf(CONFIG);
        if (config < 0) {
            return null;
        }
        String client = name.substring(config + CONFIG.length());
        String option = client.substring(client.lastIndexOf('.') + 1);
        Map<String, String> options = client.startsWith(ALL) ? OF_ALL : OF_CLIENTS;
        return options.entrySet().stream()
                .filter(each -> each.getKey().replace("-", "").equalsIgnoreCase(option.replace("-", "")))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(null);
    }
}
