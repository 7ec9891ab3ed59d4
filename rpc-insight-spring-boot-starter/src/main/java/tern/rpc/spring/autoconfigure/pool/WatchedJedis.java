package tern.rpc.spring.autoconfigure.pool;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.executors.CommandExecutor;
import redis.clients.jedis.util.JedisURIHelper;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.Holders;
import tern.rpc.pool.LargeReplies;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.StoreNames;

/** A Jedis command executor that records each command and its wait for a connection. Thread-safe. */
final class WatchedJedis implements CommandExecutor {

    private final StoreNames.Store store;
    private final JedisSettings settings;
    private final WatchedConnections connections;

    private WatchedJedis(StoreNames.Store store, JedisSettings settings, WatchedConnections connections) {
        this.store = store;
        this.settings = settings;
        this.connections = connections;
    }

    static WatchedJedis open(StoreNames.Store store, JedisSettings settings) {
        GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
        pool.setMaxTotal(settings.maxTotal());
        pool.setMaxIdle(settings.maxTotal());
        pool.setMaxWait(settings.maxWait());
        pool.setJmxEnabled(false);
        ConnectionFactory factory =
                new ConnectionFactory(JedisURIHelper.getHostAndPort(settings.address()), client(settings));
        return new WatchedJedis(store, settings, WatchedConnections.of(store.name(), factory, pool));
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
                .connectionProvider(connections)
                .commandExecutor(this)
                .build();
    }

    @Override
    public <T> T executeCommand(CommandObject<T> command) {
        CallLedger ledger = CallLedger.current();
        String plain = nameOf(command.getArguments());
        String begun = store.operation(plain);
        String name = LargeReplies.expected(begun);
        long begunNanos = ledger.isOpen() ? 0 : System.nanoTime();
        Phase outer = ledger.enter(Phase.REDIS, name);
        Throwable failure = null;
        try (Connection connection = connections.getConnection(command.getArguments())) {
            T result = connection.executeCommand(command);
            store.answered();
            String marked = LargeReplies.nameFor(plain, result);
            name = marked.equals(plain) ? begun : store.operation(marked);
            LargeReplies.arrived(begun, name);
            return result;
        } catch (RuntimeException e) {
            failure = e;
            throw e;
        } finally {
            ledger.leave(outer, failure == null ? name : FailedName.ofCommand(name, failure));
            if (!ledger.isOpen()) {
                OutsideOperations.ran(Phase.REDIS, begun, System.nanoTime() - begunNanos);
            }
        }
    }

    static String nameOf(CommandArguments arguments) {
        String command = new String(arguments.getCommand().getRaw(), StandardCharsets.US_ASCII);
        List<Object> keys = arguments.getKeys();
        Object key = keys.isEmpty() ? null : keys.get(0);
        return KeyPattern.of(
                command,
                key instanceof byte[] bytes
                        ? bytes
                        : key == null ? null : key.toString().getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        connections.close();
    }

    Holders holders() {
        return connections.holders();
    }

    PoolSnapshot snapshot(String name, SettingOrigins origins) {
        return connections
                .snapshot(name)
                .settings(List.of(
                        setting(origins, "max-total", settings.maxTotal(), Use.MAX)
                                .accepting(PoolSources.SIZES),
                        setting(origins, "max-wait", settings.maxWait(), Use.WAIT_LIMIT),
                        setting(origins, "connect-timeout", settings.connectTimeout(), Use.OTHER),
                        setting(origins, "read-timeout", settings.readTimeout(), Use.OTHER)))
                .build();
    }

    private static PoolSetting setting(SettingOrigins origins, String key, Object value, Use use) {
        return origins.setting(JedisSettings.PREFIX + "." + key, value, Source.TUNED, use);
    }
}
