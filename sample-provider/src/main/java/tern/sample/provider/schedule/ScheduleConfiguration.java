package tern.sample.provider.schedule;

import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.springframework.boot.http.client.HttpComponentsClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.client.RestClient;

@Configuration(proxyBeanMethods = false)
class ScheduleConfiguration {

    /**
     * The name of the executor for work that a call starts but does not wait for. The properties
     * {@code rpc.pools.executors.bind} configure this executor. Its queue is bounded. If the queue is full, the caller
     * gets an error immediately.
     */
    static final String BIND = "bind";

    /** Disables the HTTP client's retries, because the waiting call would time out before a second attempt. */
    @Bean
    ClientHttpRequestFactoryBuilderCustomizer<HttpComponentsClientHttpRequestFactoryBuilder> oneAttempt() {
        return builder -> builder.withHttpClientCustomizer(HttpClientBuilder::disableAutomaticRetries);
    }

    @Bean
    RestClient authorizationHttp(RestClient.Builder builder) {
        return builder.build();
    }
}
