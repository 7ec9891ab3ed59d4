package tern.rpc.spring.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.metrics.Slo;
import tern.rpc.pool.Goal;
import tern.rpc.pool.Sizing;
import tern.rpc.spring.autoconfigure.pool.SettingOrigins;

/**
 * Derives the sizes of the application's pools from the server's number of workers, if the application uses the insight
 * starter.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(SettingOrigins.class)
class InsightConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Sizing rpcSizing(Slo slo, ServerSettings server) {
        return new Sizing(new Goal(slo.qps(), slo.latency()), server.threads());
    }
}
