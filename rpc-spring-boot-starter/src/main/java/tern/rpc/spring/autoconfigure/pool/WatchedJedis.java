package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.executors.CommandExecutor;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.util.JedisURIHelper;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.advice.PoolKind;
import tern.rpc.advice.PoolSetting;
import tern.rpc.advice.PoolSetting.Source;
import tern.rpc.advice.PoolSetting.Use;
import tern.rpc.advice.PoolSnapshot;
import tern.rpc.spring.autoconfigure.SettingOrigins;

/** A client whose commands are counted, each with its wait for a connection. Thread-safe. */
final class WatchedJedis implements CommandExecutor {

    private final JedisSettings settings;
    private final PooledConnectionProvider provider;
    private final Borrowings borrowings = new Borrowings();

    private WatchedJedis(JedisSettings settings, PooledConnectionProvider provider) {
        this.settings = settings;
        this.provider = provider;
    }

    static WatchedJedis open(JedisSettings settings) {
        GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
        pool.setMaxTotal(settings.maxTotal());
        pool.setMaxIdle(settings.maxTotal());
        pool.setMaxWait(settings.maxWait());
        pool.setJmxEnabled(false);
        return new WatchedJedis(
                settings,
                new PooledConnectionProvider(
                        JedisURIHelper.getHostAndPort(settings.address()), client(settings), pool));
    }

    private static JedisClientConfig client(JedisSettings settings) {
        return DefaultJedisClientConfig.builder()
                .user(JedisURIHelper.getUser(settings.address()))
                .password(JedisURIHelper.getPassword(settings.address()))
                .database(JedisURIHelper.getDBIndex(settings.address()))
                .ssl(JedisURIHelper.isRedisSSLScheme(settings.address()))
                .connectionTimeoutMillis((int) settings.connectTimeout().toMillis())
                .socketTimeoutMillis((int) settings.readTimeout().toMillis())
                .build();
    }

    UnifiedJedis client() {
        return RedisClient.builder()
                .hostAndPort(JedisURIHelper.getHostAndPort(settings.address()))
                .clientConfig(client(settings))
                .connectionProvider(provider)
                .commandExecutor(this)
                .build();
    }

    @Override
    public <T> T executeCommand(CommandObject<T> command) {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(Phase.REDIS);
        try {
            long askedAt = borrowings.asked();
            Connection connection = take(ledger, command, askedAt);
            long takenAt = borrowings.taken(askedAt);
            try (connection) {
                return connection.executeCommand(command);
            } finally {
                borrowings.returned(takenAt);
            }
        } finally {
            ledger.leave(outer);
        }
    }

    private Connection take(CallLedger ledger, CommandObject<?> command, long askedAt) {
        Phase around = ledger.enter(Phase.REDIS_CONNECTION);
        Connection connection = null;
        try {
            connection = provider.getConnection(command.getArguments());
            return connection;
        } finally {
            ledger.leave(around);
            if (connection == null) {
                borrowings.refused(askedAt);
            }
        }
    }

    @Override
    public void close() {
        provider.close();
    }

    PoolSnapshot snapshot(String name, SettingOrigins origins) {
        return borrowings
                .into(PoolSnapshot.builder(name, PoolKind.REDIS, settings.maxTotal()))
                .now(provider.getPool().getNumActive(), provider.getPool().getNumIdle(), borrowings.waiting())
                .waitLimit(settings.maxWait())
                .settings(List.of(
                        setting(origins, "max-total", settings.maxTotal(), Use.MAX),
                        setting(origins, "max-wait", settings.maxWait(), Use.WAIT_LIMIT),
                        setting(origins, "connect-timeout", settings.connectTimeout(), Use.OTHER),
                        setting(origins, "read-timeout", settings.readTimeout(), Use.OTHER)))
                .build();
    }

    private static PoolSetting setting(SettingOrigins origins, String key, Object value, Use use) {
        return origins.setting(JedisSettings.PREFIX + "." + key, value, Source.TUNED, use);
    }
}
