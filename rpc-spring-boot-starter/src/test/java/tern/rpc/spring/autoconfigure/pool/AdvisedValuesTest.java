package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.alibaba.druid.pool.DruidDataSource;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
import tern.rpc.advice.Advisor;
import tern.rpc.advice.CallSnapshot;
import tern.rpc.advice.Situation;
import tern.rpc.advice.Situation.Cpu;
import tern.rpc.advice.Situation.LoggingMode;
import tern.rpc.pool.Goal;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.autoconfigure.RpcClientAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcServerAutoConfiguration;

/** An application starts with every value that the advice prints, and each value takes effect. */
class AdvisedValuesTest {

    private static final Pattern LINE = Pattern.compile("(?:.*; else )?([a-z][\\w.-]+)=(\\S+)");

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

    /** Creates an application with pools of every watched kind, whose values cause advice. */
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

    @ParameterizedTest
    @CsvSource({
        // columns: calls per second, target in microseconds
        "1, 1",
        "500, 100000",
        "2000000, 60000000",
    })
    void applicationStartsWithEveryValueThatIsAdvised(int qps, long micros) {
        Goal goal = new Goal(qps, Duration.ofNanos(micros * 1_000));
        for (ApplicationContextRunner application :
                List.of(application(HikariDataSource.class), application(DruidDataSource.class), withJedisAlone())) {
            application.run(first -> {
                assertThat(first).hasNotFailed();
                first.getBeanProvider(RestClient.Builder.class).ifAvailable(RestClient.Builder::build);
                assertStartsWith(application, lines(goal, pools(first), false));
                assertStartsWith(application, lines(goal, pools(first), true));
            });
        }
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

    /** Makes 1000ms and 1s equal. */
    private static String normal(String value) {
        return value.matches("\\d+000ms") ? value.replace("000ms", "s") : value;
    }

    private static List<PoolSnapshot> pools(ApplicationContext there) {
        return there.getBeanProvider(PoolSource.class).stream()
                .map(PoolSource::snapshot)
                .toList();
    }

    /** Returns the properties in the advice on these pools and on calls, with their values. */
    private static Map<String, String> lines(Goal goal, List<PoolSnapshot> pools, boolean crowded) {
        Situation situation = new Situation(
                goal,
                crowded ? pools.stream().map(AdvisedValuesTest::crowded).toList() : pools,
                crowded
                        ? List.of(new CallSnapshot(
                                "Shop",
                                "order",
                                300,
                                Duration.ofSeconds(9),
                                Duration.ofSeconds(9),
                                CallSnapshot.Limits.NONE,
                                0,
                                0,
                                Map.of()))
                        : List.of(),
                Stream.of(Duration.ofNanos(1), Duration.ofMillis(90), Duration.ofHours(1))
                        .flatMap(AdvisedValuesTest::calls)
                        .toList(),
                LoggingMode.ASYNCHRONOUS,
                Cpu.UNKNOWN);
        Map<String, String> lines = new TreeMap<>();
        Advisor.advise(situation).forEach(finding -> {
            Matcher line = LINE.matcher(finding.change());
            if (line.matches()) {
                lines.merge(line.group(1), line.group(2), (one, other) -> one.length() < other.length() ? one : other);
            }
        });
        return lines;
    }

    /** Returns calls to other services whose timeout is too short or too long for their time. */
    private static Stream<CallSnapshot> calls(Duration took) {
        return Stream.of(took.dividedBy(2).plusNanos(1), took.plusNanos(1), took.multipliedBy(1_000))
                .map(timeout -> new CallSnapshot(
                        "Shop",
                        "order",
                        5,
                        took,
                        took,
                        new CallSnapshot.Limits(
                                timeout, 2, "rpc.client.services.Shop.methods.order.timeout", PoolSetting.Source.USER),
                        1,
                        1,
                        Map.of()));
    }

    /** Returns a pool that is fully used, with waiting and refused threads. */
    private static PoolSnapshot crowded(PoolSnapshot pool) {
        return PoolSnapshot.builder(pool.name(), pool.kind(), pool.max())
                .hosts(pool.maxPerHost(), pool.hosts())
                .fair(pool.fair())
                .now(pool.max(), 0, 100)
                .queueCapacity(pool.queueCapacity())
                .waitLimit(pool.waitLimit())
                .counts(1_000, 50)
                .callerRuns(pool.kind() == PoolKind.EXECUTOR ? 5 : 0)
                .sums(Duration.ofSeconds(500), Duration.ofSeconds(100_000))
                .settings(pool.settings())
                .build();
    }

    /** Checks that the test above covers every setting that the advice can name. */
    @Test
    void everySettingThatDecidesSomethingIsAdvisedOn() {
        Set<String> deciding = new TreeSet<>();
        Set<String> advised = new TreeSet<>();
        List<Goal> goals = List.of(new Goal(1, Duration.ofNanos(1_000)), new Goal(1_000_000, Duration.ofMinutes(1)));
        for (ApplicationContextRunner application :
                List.of(application(HikariDataSource.class), application(DruidDataSource.class), withJedisAlone())) {
            application.run(there -> {
                there.getBeanProvider(RestClient.Builder.class).ifAvailable(RestClient.Builder::build);
                List<PoolSnapshot> pools = pools(there);
                for (PoolSnapshot pool : pools) {
                    List<PoolSetting> named = new ArrayList<>(pool.settings());
                    named.removeIf(setting -> setting.use() == PoolSetting.Use.OTHER
                            || setting.source() == PoolSetting.Source.TUNED
                            || (pool.kind() == PoolKind.WORKERS && setting.use() != PoolSetting.Use.MAX));
                    named.forEach(setting -> deciding.add(setting.property()));
                }
                for (Goal goal : goals) {
                    advised.addAll(lines(goal, pools, true).keySet());
                    advised.addAll(lines(goal, pools, false).keySet());
                }
            });
        }

        assertThat(advised).containsAll(deciding);
    }
}
