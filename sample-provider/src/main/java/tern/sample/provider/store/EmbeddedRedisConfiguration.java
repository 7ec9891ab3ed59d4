package tern.sample.provider.store;

import java.io.IOException;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Starts an embedded Redis server unless the properties name another Redis server. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "spring.data.redis.url", havingValue = "embedded", matchIfMissing = true)
class EmbeddedRedisConfiguration {

    @Bean
    EmbeddedRedis embeddedRedis() throws IOException {
        return EmbeddedRedis.start();
    }

    @Bean
    DataRedisConnectionDetails embeddedRedisConnection(EmbeddedRedis redis) {
        return new DataRedisConnectionDetails() {
            @Override
            public Standalone getStandalone() {
                return Standalone.of("127.0.0.1", redis.port());
            }
        };
    }
}
