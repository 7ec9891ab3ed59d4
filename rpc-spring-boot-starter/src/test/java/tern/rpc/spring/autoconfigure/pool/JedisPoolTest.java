package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.pool;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.setting;

import com.github.fppt.jedismock.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Tests the tuned Jedis pool, with and without Spring Data. */
class JedisPoolTest {

    private static RedisServer server;

    @BeforeAll
    static void start() throws IOException {
        server = RedisServer.newRedisServer().start();
    }

    @AfterAll
    static void stop() throws IOException {
        server.stop();
    }

    private static ApplicationContextRunner spring() {
        return PoolApplications.with(
                        RedisAutoConfiguration.class, JedisAutoConfiguration.class, DataRedisAutoConfiguration.class)
                .withPropertyValues(
                        "spring.data.redis.client-type=jedis", "spring.data.redis.port=" + server.getBindPort());
    }

    /**
     * Creates an application with long timeouts, because a busy machine can delay the server. Only tests that do not
     * measure time use such an application.
     */
    private static ApplicationContextRunner patient() {
        return spring().withPropertyValues("spring.data.redis.timeout=10s", "spring.data.redis.connect-timeout=10s");
    }

    private static ApplicationContextRunner direct() {
        return PoolApplications.with(RedisAutoConfiguration.class, JedisAutoConfiguration.class)
                .withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class))
                .withPropertyValues(
                        "rpc.pools.jedis.url=redis://127.0.0.1:" + server.getBindPort(),
                        "rpc.pools.jedis.read-timeout=10s",
                        "rpc.pools.jedis.connect-timeout=10s");
    }

    @Test
    void valuesComeFromTheTargetAndReachBootsPool() {
        spring().withPropertyValues("rpc.slo.qps=200").run(there -> {
            JedisConnectionFactory factory = there.getBean(JedisConnectionFactory.class);

            assertThat(factory.getPoolConfig().getMaxTotal()).isEqualTo(20);
            assertThat(factory.getPoolConfig().getMaxIdle()).isEqualTo(20);
            assertThat(factory.getPoolConfig().getMaxWaitDuration()).isEqualTo(Duration.ofMillis(200));
            assertThat(factory.getClientConfiguration().getConnectTimeout()).isEqualTo(Duration.ofMillis(200));
            assertThat(factory.getClientConfiguration().getReadTimeout()).isEqualTo(Duration.ofMillis(500));
        });
    }

    @Test
    void usersValuesStayAndAreShownWithTheirSource() {
        spring().withPropertyValues(
                        "spring.data.redis.jedis.pool.max-active=100",
                        "spring.data.redis.jedis.pool.maxIdle=16",
                        "spring.data.redis.jedis.pool.max-wait=10000ms",
                        "spring.data.redis.timeout=1s")
                .run(there -> {
                    PoolSnapshot pool = pool(there, "jedis");

                    assertThat(setting(pool, "spring.data.redis.jedis.pool.max-active"))
                            .isEqualTo("100 (USER)");
                    assertThat(setting(pool, "spring.data.redis.jedis.pool.max-idle"))
                            .isEqualTo("16 (USER)");
                    assertThat(setting(pool, "spring.data.redis.jedis.pool.max-wait"))
                            .isEqualTo("10s (USER)");
                    assertThat(setting(pool, "spring.data.redis.timeout")).isEqualTo("1s (USER)");
                    assertThat(setting(pool, "spring.data.redis.connect-timeout"))
                            .isEqualTo("200ms (TUNED)");
                });
    }

    @Test
    void withoutTuningBootsValuesHold() {
        spring().withPropertyValues("rpc.pools.tuned=false").run(there -> {
            assertThat(there.getBean(JedisConnectionFactory.class)
                            .getPoolConfig()
                            .getMaxTotal())
                    .isEqualTo(8);
            assertThat(setting(pool(there, "jedis"), "spring.data.redis.jedis.pool.max-active"))
                    .isEqualTo("8 (LIBRARY)");
        });
    }

    @Test
    void lettuceIsNotTouchedWhereItWins() {
        spring().withPropertyValues("spring.data.redis.client-type=lettuce").run(there -> {
            assertThat(there.getBean(RedisConnectionFactory.class)).isInstanceOf(LettuceConnectionFactory.class);
            assertThat(there.getBean(DataRedisProperties.class).getTimeout()).isNull();
            there.getBean(StringRedisTemplate.class).opsForValue().set("lettuce", "1");

            CallLedger ledger = Serving.ledgerOf(
                    () -> there.getBean(StringRedisTemplate.class).opsForValue().get("lettuce"));

            assertThat(ledger.count(Phase.REDIS)).isEqualTo(1);
        });
    }

    @Test
    void withoutJedisOrSpringDataNothingHappens() {
        spring().withPropertyValues("spring.data.redis.client-type=lettuce")
                .withClassLoader(new FilteredClassLoader(Jedis.class, UnifiedJedis.class))
                .run(there -> assertThat(there).hasNotFailed().doesNotHaveBean("rpcJedisTuning"));
        PoolApplications.with(RedisAutoConfiguration.class, JedisAutoConfiguration.class)
                .withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class))
                .run(there -> assertThat(there)
                        .hasNotFailed()
                        .doesNotHaveBean("rpcRedisWatch")
                        .doesNotHaveBean(UnifiedJedis.class));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "max-active=0 | spring.data.redis.jedis.pool.max-active is 0; expected 1 to 10000",
                "min-idle=51  | spring.data.redis.jedis.pool.min-idle is 51; expected 0 to 50",
            })
    void wrongValuesStopTheStart(String property, String message) {
        spring().withPropertyValues("spring.data.redis.jedis.pool." + property)
                .run(there -> assertThat(there).getFailure().rootCause().hasMessageContaining(message));
    }

    @Test
    void everyCommandCountsInTheLedgerAndOneMgetOnce() {
        patient().run(there -> {
            StringRedisTemplate redis = there.getBean(StringRedisTemplate.class);
            redis.opsForValue().multiSet(Map.of("a", "1", "b", "2"));

            CallLedger serial = Serving.ledgerOf(() -> {
                assertThat(redis.opsForValue().get("a")).isEqualTo("1");
                assertThat(redis.opsForValue().get("b")).isEqualTo("2");
                return redis.hasKey("c");
            });
            CallLedger batch = Serving.ledgerOf(() -> redis.opsForValue().multiGet(List.of("a", "b")));

            assertThat(serial.count(Phase.REDIS)).isEqualTo(3);
            assertThat(serial.count(Phase.REDIS_CONNECTION)).isEqualTo(3);
            assertThat(batch.count(Phase.REDIS)).isEqualTo(1);
            assertThat(batch.phase()).isEqualTo(Phase.OWN);
        });
    }

    @Test
    void operationOfAnExecutedCommandIsNamedAfterTheCommand() {
        patient().run(there -> {
            StringRedisTemplate redis = there.getBean(StringRedisTemplate.class);

            CallLedger ledger =
                    Serving.ledgerOf(() -> redis.execute((org.springframework.data.redis.core.RedisCallback<Object>)
                            connection -> connection.execute("ping")));

            assertThat(ledger.named())
                    .filteredOn(entry -> entry.kind() == Phase.REDIS)
                    .singleElement()
                    .satisfies(entry -> assertThat(entry.name()).isEqualTo("PING"));
        });
    }

    @Test
    void pipelineIsOneRoundTrip() {
        patient().run(there -> {
            StringRedisTemplate redis = there.getBean(StringRedisTemplate.class);

            CallLedger ledger = Serving.ledgerOf(() ->
                    redis.executePipelined((org.springframework.data.redis.core.RedisCallback<Object>) connection -> {
                        connection.stringCommands().get("a".getBytes(java.nio.charset.StandardCharsets.UTF_8));
                        connection.stringCommands().get("b".getBytes(java.nio.charset.StandardCharsets.UTF_8));
                        return null;
                    }));

            assertThat(ledger.count(Phase.REDIS)).isEqualTo(1);
        });
    }

    @Test
    void waitThatEndsWithNothingIsBoundedAndCounted() {
        patient()
                .withPropertyValues("spring.data.redis.jedis.pool.max-active=1")
                .run(there -> {
                    StringRedisTemplate redis = there.getBean(StringRedisTemplate.class);
                    RedisClient client;
                    try (RedisConnection connection =
                            there.getBean(RedisConnectionFactory.class).getConnection()) {
                        client = (RedisClient) connection.getNativeConnection();
                    }
                    try (Connection taken = client.getPool().getResource()) {
                        assertThat(pool(there, "jedis").active()).isEqualTo(1);

                        CallLedger ledger = Serving.ledgerOf(() -> {
                            assertThatThrownBy(() -> redis.opsForValue().get("a"))
                                    .hasStackTraceContaining("Could not get a resource");
                            return null;
                        });

                        assertThat(ledger.count(Phase.REDIS_CONNECTION)).isEqualTo(1);
                        assertThat(ledger.phase()).isEqualTo(Phase.OWN);
                    }
                    assertThat(pool(there, "jedis").refused()).isEqualTo(1);
                    assertThat(pool(there, "jedis").active()).isZero();
                });
    }

    private static Holders holders(ApplicationContext application) {
        return application.getBeanProvider(PoolSource.class).stream()
                .filter(source -> source.snapshot().name().equals("jedis"))
                .map(PoolSource::holders)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void blockingCommandsOfThreadsOutsideOfCallsAreKnownWithTheirThreads() {
        patient()
                .withPropertyValues("spring.data.redis.jedis.pool.max-active=3")
                .run(there -> {
                    StringRedisTemplate redis = there.getBean(StringRedisTemplate.class);
                    Holders holders = holders(there);
                    List<Thread> waiting = new ArrayList<>();
                    for (int i = 0; i < 2; i++) {
                        Thread thread = new Thread(
                                () -> redis.opsForList().leftPop("housekeeping", Duration.ofSeconds(8)),
                                "housekeeping-queue-" + i);
                        waiting.add(thread);
                        thread.start();
                    }
                    while (holders.all().size() < 2) {
                        Thread.onSpinWait();
                    }

                    assertThat(holders.all()).allSatisfy(holder -> {
                        assertThat(holder.statement()).isEqualTo("BLPOP housekeeping");
                        assertThat(holder.thread().getName()).startsWith("housekeeping-queue-");
                        assertThat(holder.call().isOpen()).isFalse();
                    });
                    redis.opsForList().rightPushAll("housekeeping", "1", "2");
                    for (Thread thread : waiting) {
                        thread.join();
                    }
                    assertThat(holders.all()).isEmpty();
                });
    }

    @Test
    void clientWithoutSpringDataIsTunedAndWatched() {
        direct().run(there -> {
            UnifiedJedis redis = there.getBean(UnifiedJedis.class);
            redis.set("direct", "1");

            CallLedger ledger = Serving.ledgerOf(() -> redis.get("direct"));

            assertThat(ledger.count(Phase.REDIS)).isEqualTo(1);
            assertThat(ledger.count(Phase.REDIS_CONNECTION)).isEqualTo(1);
            PoolSnapshot pool = pool(there, "jedis");
            assertThat(pool.max()).isEqualTo(50);
            assertThat(pool.taken()).isEqualTo(2);
            assertThat(setting(pool, "rpc.pools.jedis.max-wait")).isEqualTo("200ms (TUNED)");
        });
    }

    @Test
    void clientWithoutSpringDataFailsInTime() {
        direct().withPropertyValues("rpc.pools.jedis.max-total=1", "rpc.pools.jedis.max-wait=50ms")
                .run(there -> {
                    RedisClient redis = (RedisClient) there.getBean(UnifiedJedis.class);
                    try (var taken = redis.getPool().getResource()) {
                        assertThatThrownBy(() -> redis.get("direct")).isInstanceOf(JedisException.class);
                    }
                    assertThat(pool(there, "jedis").refused()).isEqualTo(1);
                    assertThat(setting(pool(there, "jedis"), "rpc.pools.jedis.max-total"))
                            .isEqualTo("1 (USER)");
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnClient {
        @Bean
        UnifiedJedis shop() {
            return RedisClient.create("127.0.0.1", server.getBindPort());
        }
    }

    @Test
    void applicationsOwnClientStays() {
        direct().withUserConfiguration(OwnClient.class)
                .run(there -> assertThat(there.getBean(UnifiedJedis.class)).isSameAs(there.getBean("shop")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rpc.pools.jedis.url=localhost       | rpc.pools.jedis.url is no address (host or port missing)",
                "rpc.pools.jedis.max-total=0         | rpc.pools.jedis.max-total is 0; expected 1 to 10000",
                "rpc.pools.jedis.max-wait=0ms        | rpc.pools.jedis.max-wait is 0s; expected more than 0",
                "rpc.pools.jedis.connect-timeout=0ms | rpc.pools.jedis.connect-timeout is 0s; expected more than 0",
                "rpc.pools.jedis.read-timeout=-1ms   | rpc.pools.jedis.read-timeout is -1ms; expected more than 0",
            })
    void wrongValuesWithoutSpringDataStopTheStart(String property, String message) {
        direct().withPropertyValues(property)
                .run(there -> assertThat(there).getFailure().rootCause().hasMessageContaining(message));
    }
}
