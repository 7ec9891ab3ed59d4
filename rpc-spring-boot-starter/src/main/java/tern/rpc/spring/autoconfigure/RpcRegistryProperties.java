package tern.rpc.spring.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tern.rpc.registry.Subscription.Level;

/**
 * Values as they are written. The addresses of the registries are {@code rpc.server.registry} itself.
 *
 * @param required Whether the application is only ready while it is registered; else it becomes ready after 30 seconds
 *     without a registration, with a warning.
 * @param level Form of the entries in registries that have both: one for each service (interface), one for the process
 *     (application), or both.
 * @param nodePerProtocol Whether the entries for services have one for each protocol, for old consumers that insist on
 *     tri; consumers without a protocol then count the process twice.
 */
@ConfigurationProperties("rpc.server.registry")
record RpcRegistryProperties(
        @DefaultValue("false") boolean required,
        @DefaultValue("both") Level level,
        @DefaultValue("false") boolean nodePerProtocol) {}
