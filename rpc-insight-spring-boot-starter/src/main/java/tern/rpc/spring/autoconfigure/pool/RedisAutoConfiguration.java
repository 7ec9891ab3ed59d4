package tern.rpc.spring.autoconfigure.pool;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;
import tern.rpc.pool.Sizing;

/** Measures the connections of Spring Data Redis, and tunes the pool if the client is Jedis. */
@AutoConfiguration(
        after = RpcPoolsAutoConfiguration.class,
        beforeName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnClass({RedisConnectionFactory.class, DataRedisProperties.class, ProxyFactory.class})
public final class RedisAutoConfiguration {

    @Bean
    static RedisWatch rpcRedisWatch(ObjectProvider<PoolSources> sources) {
        return new RedisWatch(sources);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({Jedis.class, RedisClient.class})
    static class WatchConfiguration {

        /** Runs this customizer first, so that the application's customizers can override its settings. */
        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        JedisWatch rpcJedisWatch(PoolSources sources, SettingOrigins origins) {
            return new JedisWatch(sources, origins);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Jedis.class)
    @Conditional(PoolTuningCondition.class)
    static class TuningConfiguration {

        @Bean
        static JedisTuning rpcJedisTuning(
                ObjectProvider<Sizing> sizing, ObjectProvider<SettingOrigins> origins, Environment environment) {
            return new JedisTuning(sizing, origins, environment);
        }
    }
}
