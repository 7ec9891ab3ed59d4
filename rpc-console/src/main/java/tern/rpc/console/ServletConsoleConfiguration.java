package tern.rpc.console;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletPath;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/**
 * Configures the console's servlet filter in the application context whose web server serves the management
 * endpoints.
 */
final class ServletConsoleConfiguration {

    /** The filter's order, which places it after Spring Security and other authentication filters. */
    private static final int ORDER = Ordered.LOWEST_PRECEDENCE - 100;

    private ServletConsoleConfiguration() {}

    private static FilterRegistrationBean<ConsoleServletFilter> filter(Console console, String path) {
        FilterRegistrationBean<ConsoleServletFilter> filter =
                new FilterRegistrationBean<>(new ConsoleServletFilter(console, path));
        filter.addUrlPatterns(path, path + "/*");
        filter.setOrder(ORDER);
        filter.setName("rpcConsoleFilter");
        return filter;
    }

    private static String path(PathMappedEndpoints endpoints) {
        String path = endpoints.getPath(EndpointId.of(RpcConsoleEndpoint.ID));
        return path == null ? "/" + RpcConsoleEndpoint.PATH : path;
    }

    @ManagementContextConfiguration(value = ManagementContextType.SAME, proxyBeanMethods = false)
    @ConditionalOnClass({DispatcherServletPath.class, FilterRegistrationBean.class})
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnAvailableEndpoint(endpoint = RpcConsoleEndpoint.class)
    static final class SamePort {

        @Bean
        FilterRegistrationBean<ConsoleServletFilter> rpcConsoleFilter(
                Console console, PathMappedEndpoints endpoints, ObjectProvider<DispatcherServletPath> servlet) {
            String path = path(endpoints);
            DispatcherServletPath dispatcher = servlet.getIfAvailable();
            return filter(console, dispatcher == null ? path : dispatcher.getRelativePath(path));
        }
    }

    /** Configures the filter for a separate management port, where the dispatcher servlet's path has no prefix. */
    @ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
    @ConditionalOnClass({DispatcherServletPath.class, FilterRegistrationBean.class})
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnAvailableEndpoint(endpoint = RpcConsoleEndpoint.class)
    static final class OwnPort {

        @Bean
        FilterRegistrationBean<ConsoleServletFilter> rpcConsoleFilter(Console console, PathMappedEndpoints endpoints) {
            return filter(console, path(endpoints));
        }
    }
}
