package tern.rpc.spring.autoconfigure.pool;

import java.net.http.HttpClient;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.http.client.ClientHttpRequestFactoryBuilder;
import org.springframework.boot.restclient.RestTemplateCustomizer;
import org.springframework.boot.webclient.WebClientCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;

/** Measures the HTTP exchanges of RestClient, RestTemplate, WebClient and the JDK's HTTP client. */
@AutoConfiguration(
        after = RpcPoolsAutoConfiguration.class,
        beforeName =
                "org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration")
public final class HttpClientAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(RestClient.class)
    static class ClientConfiguration {

        @Bean
        static HttpClientWatch rpcHttpClientWatch() {
            return new HttpClientWatch();
        }

        @Bean
        static RestClientBuilderWatch rpcRestClientBuilderWatch() {
            return new RestClientBuilderWatch();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(RestTemplateCustomizer.class)
    static class TemplateConfiguration {

        /** Measures templates with a request factory that code passes to Boot's RestTemplateBuilder. */
        @Bean
        @Order(Ordered.LOWEST_PRECEDENCE)
        static RestTemplateCustomizer rpcRestTemplateWatch() {
            return HttpClientWatch::watch;
        }
    }

    /** Does not apply to a Java runtime without the module java.net.http, for example one that jlink created. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HttpClient.class)
    static class JdkClientConfiguration {

        @Bean
        static JdkHttpClientWatch rpcJdkHttpClientWatch() {
            return new JdkHttpClientWatch();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ClientHttpRequestFactoryBuilder.class)
    static class BuilderConfiguration {

        @Bean
        static RequestFactoryWatch rpcRequestFactoryWatch(ObjectProvider<ConfigurableListableBeanFactory> beans) {
            return new RequestFactoryWatch(beans);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({WebClient.class, WebClientCustomizer.class})
    static class WebClientConfiguration {

        /**
         * Places this filter after the application's filters, so that the time spent in the application's filters is
         * not counted as the peer's time.
         */
        @Bean
        @Order(Ordered.LOWEST_PRECEDENCE)
        static WebClientWatch rpcWebClientWatch(ObjectProvider<PoolSources> sources) {
            return new WebClientWatch(sources);
        }
    }
}
