package tern.sample.provider.schedule;

import java.time.Duration;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.util.Timeout;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.HttpComponentsClientHttpRequestFactory;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.web.client.RestClient;

@Configuration(proxyBeanMethods = false)
class ScheduleConfiguration {

    static final String BIND = "bind";

    @Bean
    CloseableHttpClient authorizationHttpClient(ScheduleProperties properties) {
        ScheduleProperties.Authorization settings = properties.authorization();
        Timeout timeout = timeout(settings.timeout());
        return HttpClients.custom()
                .setConnectionManager(PoolingHttpClientConnectionManagerBuilder.create()
                        .setMaxConnTotal(settings.connections())
                        .setMaxConnPerRoute(settings.connections()) // the default is 5
                        .setDefaultConnectionConfig(ConnectionConfig.custom()
                                .setConnectTimeout(timeout)
                                .setSocketTimeout(timeout)
                                .build())
                        .build())
                .setDefaultRequestConfig(RequestConfig.custom()
                        .setConnectionRequestTimeout(timeout(settings.maxWait()))
                        .setResponseTimeout(timeout)
                        .build())
                .disableAutomaticRetries()
                .disableCookieManagement()
                .disableRedirectHandling()
                .build();
    }

    private static Timeout timeout(Duration duration) {
        return Timeout.ofMilliseconds(duration.toMillis());
    }

    @Bean
    RestClient authorizationHttp(RestClient.Builder builder, CloseableHttpClient authorizationHttpClient) {
        return builder.requestFactory(new HttpComponentsClientHttpRequestFactory(authorizationHttpClient))
                .build();
    }

    /** What can wait until after the answer. Bounded: a full queue refuses, and the caller learns it at once. */
    @Bean(defaultCandidate = false)
    @Qualifier(BIND)
    ThreadPoolTaskExecutor bind(ScheduleProperties properties) {
        ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
        pool.setCorePoolSize(properties.bind().threads());
        pool.setMaxPoolSize(properties.bind().threads());
        pool.setQueueCapacity(properties.bind().queue());
        pool.setThreadNamePrefix("bind-");
        pool.setWaitForTasksToCompleteOnShutdown(true);
        pool.setAwaitTerminationSeconds(5);
        return pool;
    }
}
