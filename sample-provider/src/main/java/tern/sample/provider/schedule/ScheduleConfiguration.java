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
     * For what can wait until after the answer: a bean that the properties {@code rpc.pools.executors.bind} make. It is
     * bounded: a full queue refuses, and the caller learns it at once.
     */
    static final String BIND = "bind";

    /** A second try after a pause would come too late for the call that waits for it. */
    @Bean
    ClientHttpRequestFactoryBuilderCustomizer<HttpComponentsClientHttpRequestFactoryBuilder> oneAttempt() {
        return builder -> builder.withHttpClientCustomizer(HttpClientBuilder::disableAutomaticRetries);
    }

    @Bean
    RestClient authorizationHttp(RestClient.Builder builder) {
        return builder.build();
    }
}
