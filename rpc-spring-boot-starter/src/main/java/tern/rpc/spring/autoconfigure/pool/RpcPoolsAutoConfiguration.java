package tern.rpc.spring.autoconfigure.pool;

import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import tern.rpc.spring.autoconfigure.RpcMetricsAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcPoolsProperties;

/** The common beans of all pools, and the thread pools that the application configures. */
@AutoConfiguration(after = RpcMetricsAutoConfiguration.class)
@EnableConfigurationProperties(RpcPoolsProperties.class)
public final class RpcPoolsAutoConfiguration {

    @Bean
    static PoolSources rpcPoolSources(ConfigurableListableBeanFactory beans, ObjectProvider<MeterRegistry> registries) {
        return new PoolSources(beans, registries);
    }

    @Bean
    static BusinessPools rpcBusinessPools(Environment environment) {
        return new BusinessPools(environment);
    }
}
