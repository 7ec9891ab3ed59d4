package tern.rpc.console;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.server.WebFilter;

/** Configures the console's filter in a reactive application, on the port of the management endpoints. */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnClass(WebFilter.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnAvailableEndpoint(endpoint = RpcConsoleEndpoint.class)
final class ReactiveConsoleConfiguration {

    /** The filter's order, which places it after Spring Security and other authentication filters. */
    @Bean
    @Order(Ordered.LOWEST_PRECEDENCE - 100)
    ConsoleWebFilter rpcConsoleWebFilter(Console console, PathMappedEndpoints endpoints) {
        String path = endpoints.getPath(EndpointId.of(RpcConsoleEndpoint.ID));
        return new ConsoleWebFilter(console, path == null ? "/" + RpcConsoleEndpoint.PATH : path);
    }
}
