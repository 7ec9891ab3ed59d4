package tern.rpc.spring.autoconfigure.pool;

import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.http.client.HttpComponentsClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import tern.rpc.pool.Sizing;

/** Tunes and measures the connections of the Apache HttpClient that Boot creates for RestClient and RestTemplate. */
@AutoConfiguration(
        after = RpcPoolsAutoConfiguration.class,
        beforeName =
                "org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration")
@ConditionalOnClass({
    HttpClientBuilder.class,
    HttpComponentsClientHttpRequestFactoryBuilder.class,
    ClientHttpRequestFactoryBuilderCustomizer.class
})
public final class HttpPoolAutoConfiguration {

    /** Runs this customizer first, so that the application's customizers can override its settings. */
    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    ClientHttpRequestFactoryBuilderCustomizer<HttpComponentsClientHttpRequestFactoryBuilder> rpcHttpPoolCustomizer(
            RpcPoolsProperties properties, Sizing sizing, SettingOrigins origins, PoolSources sources) {
        return new HttpPoolCustomizer(
                HttpPoolSettings.of(properties.http(), sizing, origins.isTuned()), origins, sources);
    }

    @Configuration(proxyBeanMethods = false)
    @Conditional(PoolTuningCondition.class)
    static class TimeoutConfiguration {

        @Bean
        static HttpTimeouts rpcHttpTimeouts(ObjectProvider<ConfigurableListableBeanFactory> beans) {
            return new HttpTimeouts(beans);
        }
    }
}
