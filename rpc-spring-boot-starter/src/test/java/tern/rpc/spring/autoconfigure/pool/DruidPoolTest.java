package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.pool;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.setting;

import com.alibaba.druid.pool.DruidDataSource;
import com.alibaba.druid.pool.GetConnectionTimeoutException;
import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.PoolSnapshot;

/** Tests the tuned Druid pool with H2. */
class DruidPoolTest {

    private static final String URL = "spring.datasource.url=jdbc:h2:mem:druid;DB_CLOSE_DELAY=-1";
    private static final String DRUID = "spring.datasource.type=" + DruidDataSource.class.getName();

    private static ApplicationContextRunner application() {
        return PoolApplications.with(
                        DruidPoolAutoConfiguration.class,
                        HikariAutoConfiguration.class,
                        DataSourceAutoConfiguration.class)
                .withPropertyValues(URL);
    }

    @Test
    void valuesComeFromTheTarget() {
        application()
                .withPropertyValues(DRUID, "rpc.slo.qps=100", "rpc.slo.latency=200ms")
                .run(there -> {
                    DruidDataSource druid = there.getBean(DruidDataSource.class);

                    assertThat(druid.isUseUnfairLock()).isTrue();
                    assertThat(druid.getMaxActive()).isEqualTo(20);
                    assertThat(druid.getMinIdle()).isEqualTo(20);
                    assertThat(druid.getInitialSize()).isEqualTo(20);
                    // The pool opens all of its connections when it starts.
                    assertThat(druid.getPoolingCount()).isEqualTo(20);
                    assertThat(druid.getMaxWait()).isEqualTo(1_000);
                    assertThat(druid.getConnectTimeout()).isEqualTo(1_000);
                    assertThat(druid.getSocketTimeout()).isEqualTo(5_000);
                    assertThat(druid.getMaxPoolPreparedStatementPerConnectionSize())
                            .isEqualTo(20);
                });
    }

    @Test
    void effectiveValuesAreShownWithTheirSource() {
        application()
                .withPropertyValues(DRUID, "spring.datasource.druid.maxActive=7")
                .run(there -> {
                    PoolSnapshot pool = pool(there, "druid");

                    assertThat(setting(pool, "spring.datasource.druid.max-active"))
                            .isEqualTo("7 (USER)");
                    assertThat(setting(pool, "spring.datasource.druid.min-idle"))
                            .isEqualTo("7 (TUNED)");
                    assertThat(setting(pool, "spring.datasource.druid.use-unfair-lock"))
                            .isEqualTo("true (TUNED)");
                    assertThat(pool.max()).isEqualTo(7);
                });
    }

    @Test
    void fairLockCanBeConfiguredAndIsShown() {
        application()
                .withPropertyValues(DRUID, "spring.datasource.druid.use-unfair-lock=false")
                .run(there -> {
                    assertThat(there.getBean(DruidDataSource.class).isUseUnfairLock())
                            .isFalse();
                    assertThat(pool(there, "druid").fair()).isTrue();
                });
    }

    @Test
    void hikariIsUsedUntilDruidIsConfigured() {
        application().run(there -> assertThat(there.getBean(DataSource.class)).isInstanceOf(HikariDataSource.class));
    }

    @Test
    void druidIsTakenWhenThereIsNoOther() {
        application()
                .withClassLoader(new FilteredClassLoader(HikariDataSource.class))
                .run(there -> assertThat(there).hasSingleBean(DruidDataSource.class));
    }

    @Test
    void withoutDruidNothingHappens() {
        application()
                .withClassLoader(new FilteredClassLoader(DruidDataSource.class))
                .run(there -> assertThat(there).hasNotFailed().doesNotHaveBean("rpcDruidWatch"));
    }

    @Test
    void dataSourceTypeOfTheApplicationIsUsed() {
        application()
                .withPropertyValues("spring.datasource.type=" + JdbcDataSource.class.getName())
                .run(there -> assertThat(there.getBean(DataSource.class)).isInstanceOf(JdbcDataSource.class));
    }

    @Test
    void withoutTuningDruidsOwnValuesHold() {
        application().withPropertyValues(DRUID, "rpc.pools.tuned=false").run(there -> {
            DruidDataSource druid = there.getBean(DruidDataSource.class);

            assertThat(druid.getMaxActive()).isEqualTo(8);
            assertThat(druid.getMinIdle()).isZero();
            assertThat(druid.getInitialSize()).isZero();
            assertThat(druid.getMaxWait()).isEqualTo(-1);
            // A pool is measured even if Tern does not tune it.
            assertThat(setting(pool(there, "druid"), "spring.datasource.druid.max-active"))
                    .isEqualTo("8 (LIBRARY)");
        });
    }

    @Test
    void withoutTuningTheApplicationsOwnSettingsHold() {
        application()
                .withPropertyValues(
                        DRUID,
                        "rpc.pools.tuned=false",
                        "spring.datasource.druid.max-active=3",
                        "spring.datasource.druid.max-wait=700")
                .run(there -> {
                    assertThat(there.getBean(DruidDataSource.class).getMaxActive())
                            .isEqualTo(3);
                    assertThat(there.getBean(DruidDataSource.class).getMaxWait())
                            .isEqualTo(700);
                    assertThat(setting(pool(there, "druid"), "spring.datasource.druid.max-active"))
                            .isEqualTo("3 (USER)");
                });
    }

    @Test
    void withoutTuningTheOnlyPoolIsCreated() {
        application()
                .withClassLoader(new FilteredClassLoader(HikariDataSource.class))
                .withPropertyValues("rpc.pools.tuned=false")
                .run(there -> assertThat(there).hasSingleBean(DruidDataSource.class));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnPool {
        @Bean(destroyMethod = "close")
        DruidDataSource shop() {
            DruidDataSource own = new DruidDataSource();
            own.setUrl("jdbc:h2:mem:own");
            own.setMaxActive(3);
            return own;
        }
    }

    @Test
    void applicationsOwnPoolIsLeftAloneAndWatched() {
        application()
                .withPropertyValues(DRUID)
                .withUserConfiguration(OwnPool.class)
                .run(there -> {
                    assertThat(there.getBean(DataSource.class)).isSameAs(there.getBean("shop"));

                    try (Connection connection = there.getBean(DataSource.class).getConnection()) {
                        assertThat(pool(there, "shop").active()).isEqualTo(1);
                    }
                    assertThat(pool(there, "shop").taken()).isEqualTo(1);
                    assertThat(setting(pool(there, "shop"), "spring.datasource.druid.max-active"))
                            .isEqualTo("3 (USER)");
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "max-active=0    | spring.datasource.druid.max-active is 0; expected 1 to 10000",
                "min-idle=-1     | spring.datasource.druid.min-idle is -1; expected 0 to 10000",
                "initial-size=51 | spring.datasource.druid.initial-size is 51; expected 0 to 50",
                "max-wait=-7     | spring.datasource.druid.max-wait is -7; expected -1 or more milliseconds",
            })
    void wrongValuesStopTheStart(String property, String message) {
        application()
                .withPropertyValues(DRUID, "spring.datasource.druid." + property)
                .run(there -> assertThat(there).getFailure().rootCause().hasMessageContaining(message));
    }

    @Test
    void connectionsAndStatementsCountInTheLedger() {
        application()
                .withPropertyValues(DRUID, "spring.datasource.druid.max-active=2")
                .run(there -> {
                    DataSource pool = there.getBean(DataSource.class);

                    CallLedger ledger = Serving.ledgerOf(() -> {
                        try (Connection connection = pool.getConnection()) {
                            useOnce(connection);
                        }
                        return null;
                    });

                    assertThat(ledger.count(Phase.JDBC_CONNECTION)).isEqualTo(1);
                    assertThat(ledger.count(Phase.SQL)).isEqualTo(3);
                    assertThat(ledger.phase()).isEqualTo(Phase.OWN);
                    assertThat(pool(there, "druid").held()).isPositive();
                });
    }

    static void useOnce(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("create table if not exists items (id int primary key)");
        }
        try (PreparedStatement statement = connection.prepareStatement("select count(*) from items where id > ?")) {
            statement.setInt(1, 0);
            try (ResultSet result = statement.executeQuery()) {
                assertThat(result.next()).isTrue();
            }
        }
        connection.setAutoCommit(false);
        connection.commit();
        connection.setAutoCommit(true);
    }

    @Test
    void waitersAreCounted() {
        application()
                .withPropertyValues(
                        DRUID, "spring.datasource.druid.max-active=1", "spring.datasource.druid.max-wait=60000")
                .run(there -> {
                    DataSource pool = there.getBean(DataSource.class);
                    AtomicReference<CallLedger> ledger = new AtomicReference<>();
                    FutureTask<Void> other = new FutureTask<>(() -> {
                        Serving.ledgerOf(() -> {
                            ledger.set(CallLedger.current());
                            pool.getConnection().close();
                            return null;
                        });
                        return null;
                    });
                    try (Connection connection = pool.getConnection()) {
                        Thread waiting = new Thread(other);
                        waiting.start();
                        while (pool(there, "druid").waiting() == 0 && waiting.isAlive()) {
                            Thread.onSpinWait();
                        }

                        assertThat(ledger.get().phase()).isEqualTo(Phase.JDBC_CONNECTION);
                    }
                    other.get(30, TimeUnit.SECONDS);
                    assertThat(pool(there, "druid").waiting()).isZero();
                });
    }

    @Test
    void callerThatWaitsTooLongFailsAndIsCounted() {
        application()
                .withPropertyValues(
                        DRUID, "spring.datasource.druid.max-active=1", "spring.datasource.druid.max-wait=300")
                .run(there -> {
                    DataSource pool = there.getBean(DataSource.class);
                    try (Connection connection = pool.getConnection()) {
                        assertThatThrownBy(pool::getConnection).isInstanceOf(GetConnectionTimeoutException.class);
                    }
                    assertThat(pool(there, "druid").refused()).isEqualTo(1);
                    assertThat(pool(there, "druid").waiting()).isZero();
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class Registry {
        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }
    }

    @Test
    void poolHasGauges() {
        application()
                .withPropertyValues(DRUID)
                .withUserConfiguration(Registry.class)
                .run(there -> {
                    MeterRegistry registry = there.getBean(MeterRegistry.class);
                    try (Connection connection = there.getBean(DataSource.class).getConnection()) {
                        assertThat(registry.get("rpc.pool.active")
                                        .tag("pool", "druid")
                                        .gauge()
                                        .value())
                                .isEqualTo(1);
                    }
                    assertThat(registry.get("rpc.pool.max")
                                    .tag("kind", "jdbc")
                                    .gauge()
                                    .value())
                            .isEqualTo(50);
                    assertThat(registry.get("rpc.pool.taken").functionCounter().count())
                            .isEqualTo(1);
                    assertThat(registry.get("rpc.pool.refused")
                                    .functionCounter()
                                    .count())
                            .isZero();
                });
    }

    @Test
    void bootsOwnMetersOfConnectionPoolsIncludeDruid() {
        application().withPropertyValues(DRUID).run(there -> {
            Collection<DataSourcePoolMetadataProvider> providers =
                    there.getBeansOfType(DataSourcePoolMetadataProvider.class).values();
            DataSource pool = there.getBean(DataSource.class);

            assertThat(providers)
                    .map(provider -> provider.getDataSourcePoolMetadata(pool))
                    .filteredOn(found -> found != null)
                    .singleElement()
                    .extracting(DataSourcePoolMetadata::getMax)
                    .isEqualTo(50);
        });
    }

    /**
     * A database can accept a connection and then send nothing. Without timeouts, a thread would wait forever for such
     * a database.
     */
    @Test
    @Timeout(20) // The test must end sooner than the driver's default timeout of 30 s.
    void driverOfMariaDbGetsTheTimeouts() throws Exception {
        // Removes the login timeout, which HikariCP sets for the whole JVM. The driver multiplies the timeout by 1,000,
        // and the product can overflow.
        DriverManager.setLoginTimeout(0);
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String url = "spring.datasource.url=jdbc:mariadb://127.0.0.1:" + silent.getLocalPort() + "/shop";
            ApplicationContextRunner application = PoolApplications.with(DruidPoolAutoConfiguration.class)
                    .withPropertyValues(
                            DRUID, "spring.datasource.druid.initial-size=0", "spring.datasource.druid.min-idle=0");

            application
                    .withPropertyValues(
                            url,
                            "spring.datasource.druid.connect-timeout=100",
                            "spring.datasource.druid.socket-timeout=200")
                    .run(there -> {
                        DruidDataSource pool = there.getBean(DruidDataSource.class);
                        assertThat(pool.getConnectProperties())
                                .containsEntry("connectTimeout", "100")
                                .containsEntry("socketTimeout", "200");
                        assertThatThrownBy(pool::createPhysicalConnection).hasStackTraceContaining("Read timed out");
                    });
            application
                    .withPropertyValues(url + "?connectTimeout=300")
                    .run(there -> assertThat(
                                    there.getBean(DruidDataSource.class).getConnectProperties())
                            .containsEntry("socketTimeout", "5000")
                            .doesNotContainKey("connectTimeout"));
        }
    }
}
