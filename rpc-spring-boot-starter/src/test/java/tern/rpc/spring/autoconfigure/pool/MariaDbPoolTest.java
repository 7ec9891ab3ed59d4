package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.pool;

import com.alibaba.druid.pool.DruidDataSource;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tern.rpc.CallLedger;
import tern.rpc.Phase;

/** Tests connection pools with a real MariaDB server. */
class MariaDbPoolTest {

    private static MariaDb server;

    @BeforeAll
    static void start() throws Exception {
        server = MariaDb.start();
    }

    @AfterAll
    static void stop() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    private static ApplicationContextRunner application(Class<?> type) {
        return PoolApplications.with(
                        DruidPoolAutoConfiguration.class,
                        HikariAutoConfiguration.class,
                        DataSourceAutoConfiguration.class)
                .withPropertyValues(
                        "spring.datasource.type=" + type.getName(),
                        "spring.datasource.url=" + server.url(),
                        "spring.datasource.username=root",
                        "spring.datasource.password=",
                        "rpc.slo.qps=50");
    }

    @ParameterizedTest
    @ValueSource(classes = {DruidDataSource.class, HikariDataSource.class})
    void connectionsAndStatementsCountInTheLedger(Class<?> type) {
        application(type).run(there -> {
            DataSource pool = there.getBean(DataSource.class);

            CallLedger ledger = Serving.ledgerOf(() -> {
                try (Connection connection = pool.getConnection()) {
                    DruidPoolTest.useOnce(connection);
                }
                return null;
            });

            assertThat(ledger.count(Phase.JDBC_CONNECTION)).isEqualTo(1);
            assertThat(ledger.count(Phase.SQL)).isEqualTo(3);
            assertThat(ledger.nanos(Phase.SQL, System.nanoTime())).isPositive();
        });
    }

    /** The database server aborts the statement. As in a real application, the waiting thread then returns. */
    @ParameterizedTest
    @ValueSource(classes = {DruidDataSource.class, HikariDataSource.class})
    void callThatWaitsForAnAnswerIsSeenInSql(Class<?> type) {
        application(type).run(there -> {
            DataSource pool = there.getBean(DataSource.class);
            AtomicReference<CallLedger> ledger = new AtomicReference<>();
            AtomicLong session = new AtomicLong();
            FutureTask<CallLedger> slow = new FutureTask<>(() -> Serving.ledgerOf(() -> {
                ledger.set(CallLedger.current());
                try (Connection connection = pool.getConnection();
                        Statement statement = connection.createStatement()) {
                    session.set(sessionOf(statement));
                    assertThatThrownBy(() -> statement.execute("select sleep(600)"))
                            .isInstanceOf(SQLException.class)
                            .hasMessageContaining("interrupted");
                }
                return null;
            }));
            Thread caller = new Thread(slow);
            caller.start();
            while (session.get() == 0 && caller.isAlive()) {
                Thread.onSpinWait();
            }
            try (Connection other = pool.getConnection()) {
                awaitSleep(other, session.get());

                assertThat(ledger.get().phase()).isEqualTo(Phase.SQL);
                assertThat(pool(there, pool instanceof DruidDataSource ? "druid" : "hikari")
                                .active())
                        .isEqualTo(2);

                try (Statement kill = other.createStatement()) {
                    kill.execute("kill query " + session.get());
                }
            }
            slow.get(30, TimeUnit.SECONDS);
        });
    }

    private static long sessionOf(Statement statement) throws SQLException {
        try (ResultSet id = statement.executeQuery("select connection_id()")) {
            id.next();
            return id.getLong(1);
        }
    }

    private static void awaitSleep(Connection other, long session) throws SQLException {
        try (PreparedStatement look = other.prepareStatement(
                "select count(*) from information_schema.processlist where id = ? and info like 'select sleep%'")) {
            look.setLong(1, session);
            boolean sleeps = false;
            while (!sleeps) {
                try (ResultSet found = look.executeQuery()) {
                    found.next();
                    sleeps = found.getInt(1) == 1;
                }
            }
        }
    }
}
