package tern.rpc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import com.alibaba.druid.pool.DruidDataSource;
import com.alibaba.druid.pool.DruidPooledConnection;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Threads that really wait in connection pools and in drivers. */
@Timeout(90)
class DatabasesThatWaitTest {

    private static final String H2 = "jdbc:h2:mem:";

    private static final class Druid extends DruidDataSource {
        private static final long serialVersionUID = 1L;

        Druid(String name) {
            super(false);
            setUrl(H2 + name);
            setMaxActive(1);
            setMaxWait(600_000);
            setValidationQuery("SELECT 1");
        }

        Lock heldByAll() {
            return lock;
        }
    }

    @Test
    void druidThatHasNoConnectionLeft() throws SQLException {
        try (Druid druid = new Druid("borrow");
                Connection taken = druid.getConnection();
                Blocked blocked = new Blocked(druid::getConnection)) {
            assertThat(taken.isClosed()).isFalse();
            assertThat(blocked.wait(false))
                    .isEqualTo(new Wait("Druid: get connection", "spring.datasource.druid.max-active"));
        }
    }

    @Test
    void druidWhoseLockIsWantedByThoseWhoGiveBack() throws SQLException {
        try (Druid druid = new Druid("return")) {
            DruidPooledConnection connection = druid.getConnection();
            Lock lock = druid.heldByAll();

            lock.lock();
            try (Blocked blocked = new Blocked(() -> {
                connection.close();
                return null;
            })) {
                assertThat(blocked.wait(false))
                        .isEqualTo(new Wait("Druid: return connection", "spring.datasource.druid.use-unfair-lock"));
            } finally {
                lock.unlock();
            }
        }
    }

    @Test
    void hikariThatHasNoConnectionLeft() throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(H2 + "hikari");
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(600_000);

        try (HikariDataSource hikari = new HikariDataSource(config);
                Connection taken = hikari.getConnection();
                Blocked blocked = new Blocked(hikari::getConnection)) {
            assertThat(taken.isClosed()).isFalse();
            assertThat(blocked.wait(false))
                    .isEqualTo(new Wait("HikariCP: get connection", "spring.datasource.hikari.maximum-pool-size"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "jdbc:mariadb://127.0.0.1:%d/shop?connectTimeout=600000, MariaDB: answer",
        "jdbc:mysql://127.0.0.1:%d/shop?sslMode=DISABLED, MySQL: answer",
        "jdbc:postgresql://127.0.0.1:%d/shop?sslmode=disable&gssEncMode=disable, PostgreSQL: answer"
    })
    void databaseThatDoesNotAnswer(String url, String resource) throws SQLException {
        try (SilentServer server = SilentServer.open()) {
            String address = url.formatted(server.port());
            // uses this driver directly, because DriverManager would load and ask all others first
            Driver driver = DriverManager.getDriver(address);
            try (Blocked blocked = new Blocked(() -> driver.connect(address, who()))) {
                Wait wait = blocked.wait(false);

                assertThat(wait.resource()).isEqualTo(resource);
                assertThat(wait.change()).contains("socketTimeout");
            }
        }
    }

    private static Properties who() {
        Properties who = new Properties();
        who.setProperty("user", "me");
        who.setProperty("password", "secret");
        return who;
    }

    @Test
    void rowThatAnotherTransactionHolds() throws SQLException {
        String url = H2 + "rows;LOCK_TIMEOUT=600000";
        try (Connection first = DriverManager.getConnection(url);
                Connection second = DriverManager.getConnection(url);
                Statement update = first.createStatement()) {
            update.execute("CREATE TABLE stock (id INT PRIMARY KEY, pieces INT)");
            update.execute("INSERT INTO stock VALUES (1, 5)");
            first.setAutoCommit(false);
            update.execute("UPDATE stock SET pieces = 4 WHERE id = 1");

            try (Blocked blocked =
                    new Blocked(() -> second.createStatement().executeUpdate("UPDATE stock SET pieces = 3"))) {
                assertThat(blocked.wait(false).resource()).isEqualTo("H2: answer");
            } finally {
                first.rollback();
            }
        }
    }
}
