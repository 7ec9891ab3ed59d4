package tern.rpc.spring.autoconfigure.web;

import jakarta.servlet.Filter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.server.WebFilter;
import org.springframework.web.servlet.DispatcherServlet;
import reactor.core.scheduler.Schedulers;
import tern.rpc.NanoClock;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.spring.autoconfigure.pool.RpcPoolsAutoConfiguration;

/**
 * Records web requests as calls to an application. If the application has an RPC server, only RPC calls are recorded.
 */
@AutoConfiguration(
        after = RpcPoolsAutoConfiguration.class,
        afterName = "tern.rpc.spring.autoconfigure.RpcServerAutoConfiguration")
@ConditionalOnWebApplication
@ConditionalOnMissingBean(type = "tern.rpc.server.RpcServer")
public final class InsightWebAutoConfiguration {

    private static final String MANAGEMENT_PATH = "management.endpoints.web.base-path";

    @Bean
    WebCalls rpcWebCalls(RpcMeters meters) {
        return new WebCalls(meters, NanoClock.SYSTEM);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    @ConditionalOnClass({Filter.class, DispatcherServlet.class})
    static class ServletConfiguration {

        @Bean
        ServletCalls rpcServletCalls(WebCalls calls, Environment environment) {
            return new ServletCalls(calls, managementPath(environment));
        }

        @Bean
        ServletRoutes rpcServletRoutes() {
            return new ServletRoutes();
        }

        @Bean
        ServletFailures rpcServletFailures() {
            return new ServletFailures();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    @ConditionalOnClass({WebFilter.class, DispatcherHandler.class})
    static class ReactiveConfiguration {

        @Bean
        ReactiveCalls rpcReactiveCalls(WebCalls calls, Environment environment) {
            return new ReactiveCalls(calls, managementPath(environment));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Schedulers.class)
    static class ReactorConfiguration {

        @Bean
        ReactorHandOver rpcReactorHandOver() {
            return new ReactorHandOver();
        }
    }

    private static String managementPath(Environment environment) {
        return environment.getProperty(MANAGEMENT_PATH, "/actuator");
    }

    /** Returns whether a path equals {@code parent} or is under it. */
    static boolean isBelow(String parent, String path) {
        return path.startsWith(parent) && (path.length() == parent.length() || path.charAt(parent.length()) == '/');
    }
}
