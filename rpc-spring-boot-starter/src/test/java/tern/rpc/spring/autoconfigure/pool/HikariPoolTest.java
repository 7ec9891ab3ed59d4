package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.pool;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.setting;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.alibaba.druid.pool.DruidDataSource;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.PoolSnapshot;

/** Tests that HikariCP pools are measured, and behave in the same way as unmeasured pools. */
class HikariPoolTest {

    private static ApplicationContextRunner application() {
        return PoolApplications.with(
                        DruidPoolAutoConfiguration.class,
                        HikariAutoConfiguration.class,
                        DataSourceAutoConfiguration.class)
                .withPropertyValues("spring.datasource.url=jdbc:h2:mem:hikari;DB_CLOSE_DELAY=-1");
    }

    @Test
    void settingsStayAsTheyAreAndAreShown() {
        application()
                .withPropertyValues("spring.datasource.hikari.connection-timeout=4000")
                .run(there -> {
                    HikariDataSource hikari = there.getBean(HikariDataSource.class);
                    assertThat(hikari.getMaximumPoolSize()).isEqualTo(10);

                    PoolSnapshot pool = pool(there, "hikari");

                    assertThat(setting(pool, "spring.datasource.hikari.maximum-pool-size"))
                            .isEqualTo("10 (LIBRARY)");
                    assertThat(setting(pool, "spring.datasource.hikari.connection-timeout"))
                            .isEqualTo("4000 (USER)");
                    assertThat(pool.waitLimit()).hasSeconds(4);
                });
    }

    @Test
    void connectionsAndStatementsCountInTheLedgerAndThePool() {
        application().run(there -> {
            HikariDataSource hikari = there.getBean(HikariDataSource.class);

            CallLedger ledger = Serving.ledgerOf(() -> {
                try (Connection connection = hikari.getConnection()) {
                    assertThat(pool(there, "hikari").active()).isEqualTo(1);
                    DruidPoolTest.useOnce(connection);
                    // The try statement closes the connection again. The second close() must have no effect on the
                    // pool.
                    connection.close();
                }
                return null;
            });

            assertThat(ledger.count(Phase.JDBC_CONNECTION)).isEqualTo(1);
            assertThat(ledger.count(Phase.SQL)).isEqualTo(3);
            assertThat(pool(there, "hikari").active()).isZero();
            assertThat(pool(there, "hikari").taken()).isEqualTo(1);
            assertThat(pool(there, "hikari").held()).isPositive();
        });
    }

    @Test
    void wrappedConnectionUnwrapsToTheOriginal() {
        application().run(there -> {
            try (Connection connection = there.getBean(HikariDataSource.class).getConnection()) {
                assertThat(connection.unwrap(org.h2.jdbc.JdbcConnection.class)).isNotNull();
                assertThat(java.util.Set.of(connection)).contains(connection);
                try (var statement = connection.createStatement()) {
                    assertThat(statement.getConnection()).isSameAs(connection);
                    assertThatThrownBy(() -> statement.execute("no sql"))
                            .isInstanceOf(java.sql.SQLSyntaxErrorException.class);
                }
            }
        });
    }

    @Test
    void waitThatEndsWithNothingIsCounted() {
        application()
                .withPropertyValues(
                        "spring.datasource.hikari.maximum-pool-size=1",
                        "spring.datasource.hikari.connection-timeout=250")
                .run(there -> {
                    HikariDataSource hikari = there.getBean(HikariDataSource.class);
                    try (Connection connection = hikari.getConnection()) {
                        assertThatThrownBy(hikari::getConnection).isInstanceOf(SQLTransientConnectionException.class);
                    }
                    assertThat(pool(there, "hikari").refused()).isEqualTo(1);
                });
    }

    @Test
    void bootFindsThePoolBehindTheWrapper() {
        application()
                .run(there -> assertThat(DataSourceUnwrapper.unwrap(
                                there.getBean(HikariDataSource.class), HikariDataSource.class))
                        .isNotNull());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void logSaysHowToChooseDruidOnlyWhenItIsThere(boolean there) {
        Logger log = (Logger) LoggerFactory.getLogger(HikariWatch.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.setLevel(Level.INFO);
        log.addAppender(lines);
        try {
            FilteredClassLoader without = new FilteredClassLoader(DruidDataSource.class);
            (there ? application() : application().withClassLoader(without))
                    .run(application -> assertThat(application).hasSingleBean(HikariDataSource.class));
        } finally {
            log.detachAppender(lines);
            log.setLevel(null);
        }

        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(line -> line.contains("spring.datasource.type=" + DruidChosen.DRUID))
                .hasSize(there ? 1 : 0);
    }

    @Test
    void withoutHikariNothingIsWatched() {
        application()
                .withClassLoader(new FilteredClassLoader(HikariDataSource.class))
                .run(there -> assertThat(there).hasNotFailed().doesNotHaveBean("rpcHikariWatch"));
    }
}
