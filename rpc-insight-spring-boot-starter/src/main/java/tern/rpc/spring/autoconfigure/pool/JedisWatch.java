package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import org.apache.commons.pool2.PooledObjectFactory;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.springframework.boot.data.redis.autoconfigure.JedisClientConfigurationBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration.JedisClientConfigurationBuilder;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.builders.AbstractClientBuilder;
import redis.clients.jedis.executors.DefaultCommandExecutor;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/**
 * Measures the connections of the client that Spring Data creates for a single Redis server. Instrumented subclasses
 * replace the client's connection provider and command executor.
 */
final class JedisWatch implements JedisClientConfigurationBuilderCustomizer {

    private final PoolSources sources;
    private final SettingOrigins origins;

    JedisWatch(PoolSources sources, SettingOrigins origins) {
        this.sources = sources;
        this.origins = origins;
    }

    @Override
    public void customize(JedisClientConfigurationBuilder configuration) {
        configuration.customizeClient(client -> watch(client, configuration.build()));
    }

    private void watch(AbstractClientBuilder<?, ?> builder, JedisClientConfiguration configuration) {
        GenericObjectPoolConfig<?> config = configuration.getPoolConfig().orElse(null);
        if (config == null || !configuration.isUsePooling() || !(builder.build() instanceof RedisClient plain)) {
            return; // Clients for clusters and sentinels have several pools, so they are not measured.
        }
        PooledObjectFactory<Connection> factory = plain.getPool().getFactory();
        // This client was built only for its connection factory, which contains the address and the credentials. The
        // client has not opened any connections.
        plain.close();
        String name = sources.nameFor("jedis");
        WatchedConnections connections = WatchedConnections.of(name, factory, typed(config));
        builder.connectionProvider(connections).commandExecutor(new DefaultCommandExecutor(connections));
        sources.add(name, PoolSource.of(() -> snapshot(name, connections, configuration), connections.holders()));
    }

    private static GenericObjectPoolConfig<Connection> typed(GenericObjectPoolConfig<?> config) {
        // The cast of the pool's configuration is safe: only the eviction policy depends on the element type, and the
        // policy does not read the elements.
        @SuppressWarnings("unchecked")
        GenericObjectPoolConfig<Connection> typed = (GenericObjectPoolConfig<Connection>) config;
        return typed;
    }

    private PoolSnapshot snapshot(String name, WatchedConnections connections, JedisClientConfiguration configuration) {
        return connections
                .snapshot(name)
                .settings(List.of(
                        setting(".jedis.pool.max-active", connections.getPool().getMaxTotal(), Use.MAX)
                                .accepting(PoolSources.SIZES),
                        setting(".jedis.pool.max-idle", connections.getPool().getMaxIdle(), Use.OTHER),
                        setting(".jedis.pool.min-idle", connections.getPool().getMinIdle(), Use.OTHER),
                        setting(".jedis.pool.max-wait", connections.getPool().getMaxWaitDuration(), Use.WAIT_LIMIT),
                        setting(".connect-timeout", configuration.getConnectTimeout(), Use.OTHER),
                        setting(".timeout", configuration.getReadTimeout(), Use.OTHER)))
                .build();
    }

    private PoolSetting setting(String key, Object value, Use use) {
        return origins.setting(JedisTuning.PREFIX + key, value, origins.isTuned() ? Source.TUNED : Source.LIBRARY, use);
    }
}
