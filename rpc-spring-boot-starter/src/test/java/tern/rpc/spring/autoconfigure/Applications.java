package tern.rpc.spring.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import tern.rpc.spring.autoconfigure.actuate.RpcActuatorAutoConfiguration;
import tern.rpc.spring.autoconfigure.insight.InsightActuatorAutoConfiguration;
import tern.rpc.spring.autoconfigure.pool.RpcPoolsAutoConfiguration;

/** Creates small applications that use only the RPC starter. */
final class Applications {

    private Applications() {}

    /** Creates an application that listens on a free port if it exports a service. */
    static ApplicationContextRunner provider(Class<?>... configurations) {
        return application(configurations).withPropertyValues("rpc.server.port=0", "rpc.server.shutdown-timeout=5s");
    }

    /** Creates an application that calls the services of the given provider. */
    static ApplicationContextRunner consumerOf(ApplicationContext provider, Class<?>... configurations) {
        return application(configurations).withPropertyValues("rpc.client.url=" + addressOf(provider));
    }

    /** Creates an application with long timeouts, because build machines can be slow. */
    static ApplicationContextRunner application(Class<?>... configurations) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RpcAutoConfiguration.class,
                        RpcMetricsAutoConfiguration.class,
                        RpcClientAutoConfiguration.class,
                        RpcServerAutoConfiguration.class,
                        RpcPoolsAutoConfiguration.class,
                        InsightActuatorAutoConfiguration.class,
                        RpcActuatorAutoConfiguration.class))
                .withPropertyValues("rpc.client.timeout=1m")
                .withUserConfiguration(configurations);
    }

    static String addressOf(ApplicationContext provider) {
        return "127.0.0.1:" + provider.getEnvironment().getProperty("local.rpc.port");
    }
}
