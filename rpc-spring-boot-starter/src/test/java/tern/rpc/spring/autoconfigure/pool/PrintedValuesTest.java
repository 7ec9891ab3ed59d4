package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.alibaba.druid.pool.DruidDataSource;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.HttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.web.client.RestClient;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.autoconfigure.RpcClientAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcServerAutoConfiguration;

/**
 * Tests every property value that a diagnosis can recommend. The application must start with the value, and the value
 * must take effect.
 */
class PrintedValuesTest {

    interface Shop {
        void order();
    }

    @RpcService
    static class Orders implements Shop {
        @Override
        public void order() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Caller {
        @RpcReference(url = "127.0.0.1:1")
        Shop shop;
    }

    /** Creates an application with small pools of every measured kind. */
    private static ApplicationContextRunner application(Class<?> dataSource) {
        return PoolApplications.with(
                        DruidPoolAutoConfiguration.class,
                        HikariAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        RedisAutoConfiguration.class,
                        JedisAutoConfiguration.class,
                        DataRedisAutoConfiguration.class,
                        HttpPoolAutoConfiguration.class,
                        HttpClientAutoConfiguration.class,
                        ImperativeHttpClientAutoConfiguration.class,
                        RestClientAutoConfiguration.class)
                .withConfiguration(
                        AutoConfigurations.of(RpcServerAutoConfiguration.class, RpcClientAutoConfiguration.class))
                .withUserConfiguration(Orders.class, Caller.class)
                .withPropertyValues(
                        "rpc.server.port=0",
                        "rpc.server.threads=5",
                        "rpc.server.queue-capacity=900000",
                        "rpc.pools.executors.mail.threads=1",
                        "rpc.pools.executors.mail.queue-capacity=900000",
                        "rpc.pools.http.max-total=3",
                        "rpc.pools.http.max-per-host=2",
                        "rpc.pools.http.max-wait=30s",
                        "spring.datasource.url=jdbc:h2:mem:advised;DB_CLOSE_DELAY=-1",
                        "spring.datasource.type=" + dataSource.getName(),
                        "spring.datasource.hikari.minimum-idle=1",
                        "spring.datasource.hikari.connection-timeout=30000",
                        "spring.datasource.druid.initial-size=1",
                        "spring.datasource.druid.min-idle=1",
                        "spring.datasource.druid.max-active=2",
                        "spring.datasource.druid.max-wait=-1",
                        "spring.datasource.druid.use-unfair-lock=false",
                        "spring.data.redis.client-type=jedis",
                        "spring.data.redis.port=1",
                        "spring.data.redis.jedis.pool.max-active=2",
                        "spring.data.redis.jedis.pool.max-wait=-1ms");
    }

    /** Creates an application that uses Jedis instead of Lettuce. */
    private static ApplicationContextRunner withJedisAlone() {
        return PoolApplications.with(RedisAutoConfiguration.class, JedisAutoConfiguration.class)
                .withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class))
                .withPropertyValues(
                        "rpc.pools.jedis.url=redis://127.0.0.1:1",
                        "rpc.pools.jedis.max-total=2",
                        "rpc.pools.jedis.max-wait=30s");
    }

    /** Tests the smallest value and the largest value that a library accepts, and values between them. */
    @ParameterizedTest
    @ValueSource(longs = {0, 2, 7, 50, 2_000, Integer.MAX_VALUE})
    void applicationStartsWithEveryValueThatMayBePrinted(long wanted) {
        for (ApplicationContextRunner application :
                List.of(application(HikariDataSource.class), application(DruidDataSource.class), withJedisAlone())) {
            application.run(first -> {
                assertThat(first).hasNotFailed();
                first.getBeanProvider(RestClient.Builder.class).ifAvailable(RestClient.Builder::build);
                assertStartsWith(application, lines(pools(first), wanted));
            });
        }
    }

    @Test
    void hikarisFloorOfAWaitIsKnown() {
        application(HikariDataSource.class)
                .run(there -> assertThat(lines(pools(there), 1))
                        .containsEntry("spring.datasource.hikari.connection-timeout", "250"));
    }

    private static void assertStartsWith(ApplicationContextRunner application, Map<String, String> lines) {
        assertThat(lines).isNotEmpty();
        String[] properties = lines.entrySet().stream()
                .map(line -> line.getKey() + "=" + line.getValue())
                .toArray(String[]::new);
        application.withPropertyValues(properties).run(there -> {
            assertThat(there).as(String.join(" ", properties)).hasNotFailed();
            there.getBeanProvider(RestClient.Builder.class).ifAvailable(RestClient.Builder::build);
            for (DataSource source :
                    there.getBeanProvider(DataSource.class).stream().toList()) {
                try (Connection connection = source.getConnection()) {
                    assertThat(connection.isClosed()).isFalse();
                }
            }
            Map<String, PoolSetting> settings = new HashMap<>();
            pools(there).forEach(pool -> pool.settings().forEach(setting -> settings.put(setting.property(), setting)));
            lines.forEach((property, value) -> {
                if (settings.containsKey(property)) {
                    assertThat(normal(settings.get(property).value()))
                            .as(property)
                            .isEqualTo(normal(value));
                }
            });
        });
    }

    /** Converts times to a common form, so that 1000ms equals 1s. */
    private static String normal(String value) {
        return value.matches("\\d+000ms") ? value.replace("000ms", "s") : value;
    }

    private static List<PoolSnapshot> pools(ApplicationContext there) {
        return there.getBeanProvider(PoolSource.class).stream()
                .map(PoolSource::snapshot)
                .toList();
    }

    /**
     * Returns the properties that affect a pool. The value of each property is the accepted value nearest to {@code
     * wanted}.
     */
    private static Map<String, String> lines(List<PoolSnapshot> pools, long wanted) {
        Map<String, String> lines = new TreeMap<>();
        for (PoolSnapshot pool : pools) {
            for (PoolSetting setting : pool.settings()) {
                String line = !setting.property().contains(".")
                        ? null
                        : switch (setting.use()) {
                            case MAX, MAX_PER_HOST -> setting.line((int) Math.min(wanted, largest(pool)));
                            case WAIT_LIMIT -> setting.line(Duration.ofMillis(wanted));
                            case FAIRNESS -> setting.property() + "=true";
                            case QUEUE_CAPACITY, CHECK, OTHER -> null;
                        };
                if (line != null) {
                    int equals = line.indexOf('=');
                    lines.put(line.substring(0, equals), line.substring(equals + 1));
                }
            }
        }
        return lines;
    }

    /**
     * Returns the largest size that a diagnosis recommends. The models of the diagnosis do not compute larger sizes.
     */
    private static long largest(PoolSnapshot pool) {
        return pool.kind() == PoolKind.WORKERS ? 10_000 : 2_000;
    }
}
