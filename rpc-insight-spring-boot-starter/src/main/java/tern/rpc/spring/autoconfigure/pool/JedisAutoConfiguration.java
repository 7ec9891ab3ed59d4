package tern.rpc.spring.autoconfigure.pool;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.PooledConnectionProvider;
import tern.rpc.pool.PoolSource;
import tern.rpc.pool.Sizing;

/** Creates a Jedis client that works without Spring Data, if {@code rpc.pools.jedis.url} is set. */
@AutoConfiguration(after = RpcPoolsAutoConfiguration.class)
@ConditionalOnClass({UnifiedJedis.class, PooledConnectionProvider.class})
@ConditionalOnProperty("rpc.pools.jedis.url")
public final class JedisAutoConfiguration {

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    UnifiedJedis rpcJedis(RpcPoolsProperties properties, Sizing sizing, SettingOrigins origins, PoolSources sources) {
        String name = sources.nameFor("jedis");
        WatchedJedis pool = WatchedJedis.open(sources.redis().add(name), JedisSettings.of(properties.jedis(), sizing));
        sources.add(name, PoolSource.of(() -> pool.snapshot(name, origins), pool.holders()));
        return pool.client();
    }
}
