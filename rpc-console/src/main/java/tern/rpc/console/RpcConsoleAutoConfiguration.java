package tern.rpc.console;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMapper;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.autoconfigure.RpcClientAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcConsoleProperties;
import tern.rpc.spring.autoconfigure.RpcServerAutoConfiguration;

/**
 * Configures the console in applications that have Actuator and a web server, and expose the console's endpoint.
 */
@AutoConfiguration(after = {RpcServerAutoConfiguration.class, RpcClientAutoConfiguration.class})
@EnableConfigurationProperties(RpcConsoleProperties.class)
public final class RpcConsoleAutoConfiguration {

    private static final Logger LOG = LoggerFactory.getLogger(RpcConsoleAutoConfiguration.class);

    private static final String AVAILABLE =
            "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint";

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({WebEndpoint.class, ConditionalOnAvailableEndpoint.class})
    @ConditionalOnWebApplication
    static final class EndpointConfiguration {

        @Bean
        @ConditionalOnAvailableEndpoint
        @ConditionalOnMissingBean
        RpcConsoleEndpoint rpcConsoleEndpoint(Console console) {
            return new RpcConsoleEndpoint(console);
        }

        /**
         * Maps the endpoint to the path {@value RpcConsoleEndpoint#PATH}. A path mapping configured by the application
         * takes precedence.
         */
        @Bean
        @ConditionalOnAvailableEndpoint(endpoint = RpcConsoleEndpoint.class)
        @Order(Ordered.LOWEST_PRECEDENCE)
        static PathMapper rpcConsolePathMapper() {
            EndpointId console = EndpointId.of(RpcConsoleEndpoint.ID);
            return id -> id.equals(console) ? RpcConsoleEndpoint.PATH : null;
        }

        @Bean
        @ConditionalOnAvailableEndpoint(endpoint = RpcConsoleEndpoint.class)
        Console rpcConsole(
                EndpointAccessResolver access,
                RpcConsoleProperties properties,
                Environment environment,
                ObjectProvider<RpcServer> server,
                ObjectProvider<JsonFormat> format,
                ApplicationContext context) {
            return new Console(
                    new ConsoleAccess(access, properties, environment, server::getIfAvailable, format::getIfAvailable),
                    context);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass(AVAILABLE)
    static final class WithoutActuator {

        WithoutActuator() {
            LOG.info("The console is off, because tern-rpc-console needs Actuator. Add"
                    + " spring-boot-starter-actuator, or remove tern-rpc-console");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = AVAILABLE)
    @ConditionalOnNotWebApplication
    static final class WithoutWebServer {

        WithoutWebServer() {
            LOG.info("The console is off, because tern-rpc-console needs a web server. Add"
                    + " spring-boot-starter-webmvc, or remove tern-rpc-console");
        }
    }
}
