package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.alibaba.druid.pool.DruidDataSource;
import com.github.fppt.jedismock.RedisServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Measures how long calls wait for a database and for Redis after a network failure, with the tuned pools (promise R19
 * in docs/figures/promises.md). Some threads wait for a connection, and others wait for a running statement.
 */
@Tag("figures")
@Timeout(1_200)
class BlackHoledStoresTest {

    private static final int THREADS = 40; // twice the number of connections, so that half of the threads must wait
    private static final long NANOS = TimeUnit.SECONDS.toNanos(Long.getLong("tern.seconds", 20));

    /** The measured durations of all waits of one kind, such as the waits for a pooled connection. */
    private static final class Waits {
        private final AtomicLong count = new AtomicLong();
        private final AtomicLong slowest = new AtomicLong();

        void waitedSince(long began) {
            count.incrementAndGet();
            slowest.accumulateAndGet(System.nanoTime() - began, Math::max);
        }

        @Override
        public String toString() {
            return count + ", the slowest " + TimeUnit.NANOSECONDS.toMillis(slowest.get()) + " ms";
        }

        long slowestMillis() {
            return TimeUnit.NANOSECONDS.toMillis(slowest.get());
        }
    }

    /** Starts at the time of the network failure, and makes the call repeatedly on many threads. */
    private static void whileLost(BlackHole hole, Callable<?> call) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            hole.open();
            long end = System.nanoTime() + NANOS;
            List<Future<?>> callers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                callers.add(threads.submit(() -> {
                    while (System.nanoTime() - end < 0) {
                        call.call();
                    }
                    return null;
                }));
            }
            for (Future<?> caller : callers) {
                caller.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void callsFailSoonIfTheDatabaseIsUnreachable() throws Exception {
        try (MariaDb server = MariaDb.start();
                BlackHole hole = BlackHole.before(server.port())) {
            Waits connections = new Waits();
            Waits statements = new Waits();
            PoolApplications.with(
                            DruidPoolAutoConfiguration.class,
                            HikariAutoConfiguration.class,
                            DataSourceAutoConfiguration.class)
                    .withPropertyValues(
                            "spring.datasource.type=" + DruidDataSource.class.getName(),
                            "spring.datasource.url=" + server.url(hole.port()),
                            "spring.datasource.username=root",
                            "spring.datasource.password=",
                            "rpc.slo.qps=100",
                            "rpc.slo.latency=200ms")
                    .run(there -> {
                        DataSource pool = there.getBean(DataSource.class);
                        whileLost(hole, () -> {
                            useDatabase(pool, connections, statements);
                            return null;
                        });
                    });

            System.out.println("R19 database without network: waits for a connection " + connections
                    + " (goal 1,000); statements " + statements + " (goal 5,000)");
            assertThat(connections.slowestMillis()).isLessThan(1_500);
            assertThat(statements.slowestMillis()).isLessThan(6_000);
        }
    }

    private static void useDatabase(DataSource pool, Waits connections, Waits statements) {
        long began = System.nanoTime();
        try (Connection connection = pool.getConnection()) {
            connections.waitedSince(began);
            began = System.nanoTime();
            try (Statement statement = connection.createStatement()) {
                statement.execute("select 1");
            } finally {
                statements.waitedSince(began);
            }
        } catch (SQLException e) {
            if (e instanceof com.alibaba.druid.pool.GetConnectionTimeoutException) {
                connections.waitedSince(began);
            }
        }
    }

    @Test
    void callsFailSoonIfRedisIsUnreachable() throws Exception {
        RedisServer server = RedisServer.newRedisServer().start();
        try (BlackHole hole = BlackHole.before(server.getBindPort())) {
            Waits waits = new Waits();
            PoolApplications.with(
                            RedisAutoConfiguration.class,
                            JedisAutoConfiguration.class,
                            DataRedisAutoConfiguration.class)
                    .withPropertyValues(
                            "spring.data.redis.client-type=jedis",
                            "spring.data.redis.port=" + hole.port(),
                            "rpc.slo.qps=200")
                    .run(there -> {
                        StringRedisTemplate redis = there.getBean(StringRedisTemplate.class);
                        redis.opsForValue().set("key", "value");
                        whileLost(hole, () -> {
                            long began = System.nanoTime();
                            try {
                                return redis.opsForValue().get("key");
                            } catch (DataAccessException expected) {
                                return expected;
                            } finally {
                                waits.waitedSince(began);
                            }
                        });
                    });

            System.out.println("R19 Redis without network: calls " + waits + " (goal 500)");
            assertThat(waits.slowestMillis()).isLessThan(1_000);
        } finally {
            server.stop();
        }
    }
}
