package tern.rpc.spring.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tern.rpc.registry.Subscription.Level;

/**
 * The properties under {@code rpc.server.registry}. The property {@code rpc.server.registry} itself contains the
 * addresses of the registries.
 *
 * @param required Whether the application is ready only while it is registered. If false, the application becomes ready
 *     after 30 seconds even without a registration, and logs a warning.
 * @param level Form of the entries in registries that support both forms: one entry per service (interface), one per
 *     process (application), or both.
 * @param nodePerProtocol Whether there is an interface entry for each protocol, for old consumers that require tri.
 *     Consumers that set no protocol then see the process twice.
 * @param metadataType Where consumers find the list of this process's services: in the registry (remote), or by calling
 *     this process (local).
 */
@ConfigurationProperties("rpc.server.registry")
record RpcRegistryProperties(
        @DefaultValue("false") boolean required,
        @DefaultValue("both") Level level,
        @DefaultValue("false") boolean nodePerProtocol,
        @DefaultValue("remote") MetadataType metadataType) {

    /** Where consumers find the list of a process's services. */
    enum MetadataType {
        REMOTE,
        LOCAL
    }
}
