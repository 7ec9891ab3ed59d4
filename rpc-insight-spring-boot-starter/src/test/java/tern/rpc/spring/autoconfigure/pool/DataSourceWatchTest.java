package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.alibaba.druid.pool.DruidDataSource;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.ResultRows;
import tern.rpc.pool.StoreNames;

/** Checks that each kind of data source is measured exactly once and behaves as before. */
@Timeout(120)
class DataSourceWatchTest {

    private static final String URL = "jdbc:h2:mem:sources;DB_CLOSE_DELAY=-1";

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RpcPoolsAutoConfiguration.class,
                    HikariAutoConfiguration.class,
                    DruidPoolAutoConfiguration.class,
                    DataSourceAutoConfiguration.class,
                    org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration.class))
            .withUserConfiguration(Sources.class)
            .withPropertyValues("rpc.pools.tuned=false");

    @Configuration(proxyBeanMethods = false)
    static class Sources {

        private static HikariDataSource pool() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl(URL);
            pool.setMaximumPoolSize(2);
            return pool;
        }

        @Bean
        HikariDataSource hikari() {
            return pool();
        }

        @Bean
        DruidDataSource druid() {
            DruidDataSource pool = new DruidDataSource();
            pool.setUrl(URL);
            pool.setMaxActive(2);
            return pool;
        }

        @Bean
        BasicDataSource dbcp() {
            BasicDataSource pool = new BasicDataSource();
            pool.setUrl(URL);
            pool.setMaxTotal(3);
            return pool;
        }

        @Bean
        org.apache.tomcat.jdbc.pool.DataSource tomcat() {
            org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource();
            pool.setUrl(URL);
            pool.setMaxActive(4);
            return pool;
        }

        @Bean
        DriverManagerDataSource plain() {
            return new DriverManagerDataSource(URL);
        }

        @Bean
        LazyConnectionDataSourceProxy lazy() {
            return new LazyConnectionDataSourceProxy(pool());
        }

        @Bean
        LazyConnectionDataSourceProxy lazyBean(HikariDataSource hikari) {
            return new LazyConnectionDataSourceProxy(hikari);
        }

        @Bean
        AbstractRoutingDataSource routing(BasicDataSource dbcp) {
            AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
                @Override
                protected Object determineCurrentLookupKey() {
                    return "orders";
                }
            };
            routing.setTargetDataSources(Map.of("orders", pool(), "stock", dbcp));
            return routing;
        }

        @Bean
        DataSource finalClass() {
            JdbcDataSource source = new JdbcDataSource();
            source.setURL(URL);
            return source;
        }
    }

    @Test
    void statementThatFailsIsNamedWithItsState() {
        application.run(there -> {
            DataSource source = there.getBean("dbcp", DataSource.class);

            CallLedger call = Calls.ledgerOf(() -> {
                // Quick statements are named only if a call runs several of them.
                for (int i = 0; i < 20; i++) {
                    try (Connection connection = source.getConnection();
                            Statement statement = connection.createStatement()) {
                        assertThatThrownBy(() -> statement.execute("select * from missing"))
                                .isInstanceOf(SQLException.class);
                    }
                }
                return null;
            });

            assertThat(Calls.names(call, Phase.SQL))
                    .isNotEmpty()
                    .allMatch(name -> name.matches(".* \\(failed 42S0.\\)"));
        });
    }

    private static Object query(DataSource source) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select x from system_range(1, 3) where x < 17")) {
            int count = 0;
            while (rows.next()) {
                count++;
            }
            return count;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"hikari", "dbcp", "tomcat", "plain", "lazy", "lazyBean", "routing"})
    void connectionAndStatementCountOnce(String name) {
        application.run(there -> {
            DataSource source = there.getBean(name, DataSource.class);
            query(source); // A lazy data source queries the connection defaults once, on its first use.

            CallLedger call = Calls.ledgerOf(() -> query(source));

            assertThat(call.count(Phase.JDBC_CONNECTION)).isOne();
            assertThat(call.count(Phase.SQL)).isOne();
            assertThat(call.phase()).isEqualTo(Phase.OWN);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"hikari", "dbcp", "druid"})
    void rowsOfResultsAreCounted(String name) {
        application.run(there -> {
            DataSource source = there.getBean(name, DataSource.class);

            Calls.ledgerOf(() -> query(source));
            query(source); // Rows that are read outside of calls are not counted.

            assertThat(ResultRows.mean("select x from system_range(?, ...) where x < ? (data source " + name + ")"))
                    .isEqualTo(3);
        });
    }

    @Test
    void statementOfOneOfSeveralDataSourcesIsNamedWithIt() {
        application.run(there -> {
            CallLedger call = Calls.ledgerOf(() -> {
                for (int i = 0; i < 20; i++) { // Quick statements are named only if a call runs several of them.
                    query(there.getBean("dbcp", DataSource.class));
                }
                return null;
            });

            assertThat(Calls.names(call, Phase.SQL))
                    .isNotEmpty()
                    .allMatch(name -> name.endsWith(" (data source dbcp)"));
            assertThat(there.getBean("rpcDataSourceNames", StoreNames.class).answers())
                    .containsKey("dbcp")
                    .doesNotContainKey("tomcat");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"hikari", "dbcp", "druid"})
    void generatedKeysAreNotRowsOfAResult(String name) {
        application.run(there -> {
            String table = "keys_" + name;
            String insert = "insert into " + table + " (x) values (default), (default), (default)";
            try (Connection connection = there.getBean(name, DataSource.class).getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("create table if not exists " + table + " (x int generated always as identity)");
                Calls.ledgerOf(() -> {
                    statement.executeUpdate(insert, Statement.RETURN_GENERATED_KEYS);
                    try (ResultSet keys = statement.getGeneratedKeys()) {
                        int count = 0;
                        while (keys.next()) {
                            count++;
                        }
                        assertThat(count).isEqualTo(3);
                    }
                    return null;
                });
            }

            assertThat(ResultRows.mean(insert + " (data source " + name + ")")).isNegative();
        });
    }

    @Test
    void poolsAreKnownByTheirNames() {
        application.run(there -> {
            query(there.getBean("dbcp", DataSource.class));
            query(there.getBean("tomcat", DataSource.class));
            query(there.getBean("routing", DataSource.class));

            assertThat(Calls.pool(there, "dbcp").max()).isEqualTo(3);
            assertThat(Calls.pool(there, "dbcp").taken()).isOne();
            assertThat(Calls.pool(there, "tomcat").max()).isEqualTo(4);
            assertThat(Calls.pool(there, "tomcat").taken()).isOne();
            assertThat(Calls.pool(there, "routing.orders").max()).isEqualTo(2);
            assertThat(Calls.pool(there, "routing.orders").taken()).isOne();
        });
    }

    @Test
    void poolOfTheApplicationsCodeHasNoProperty() {
        application.run(
                there -> assertThat(Calls.pool(there, "hikari").settings()).isEmpty());
    }

    @Test
    void beansKeepTheirTypes() {
        application.run(there -> {
            assertThat(there).hasSingleBean(HikariDataSource.class).hasSingleBean(BasicDataSource.class);
            assertThat(there.getBean(BasicDataSource.class).getMaxTotal()).isEqualTo(3);
            assertThat(there.getBean("finalClass")).isInstanceOf(JdbcDataSource.class);
            assertThat(there.getBean(HikariDataSource.class).isWrapperFor(HikariDataSource.class))
                    .isTrue();
        });
    }

    @Test
    void readingOfRowsBelongsToTheStatement() {
        application.run(there -> {
            try (Connection connection =
                            there.getBean("hikari", DataSource.class).getConnection();
                    Statement statement = connection.createStatement()) {
                CallLedger call = Calls.ledgerOf(() -> {
                    statement.setFetchSize(1);
                    try (ResultSet rows = statement.executeQuery("select 17")) {
                        assertThat(rows.getStatement()).isSameAs(statement);
                        long before = CallLedger.current().nanos(Phase.SQL, System.nanoTime());
                        assertThat(rows.next()).isTrue();
                        assertThat(rows.getInt(1)).isEqualTo(17);
                        assertThat(CallLedger.current().nanos(Phase.SQL, System.nanoTime()))
                                .isGreaterThan(before);
                    }
                    return null;
                });
                assertThat(call.count(Phase.SQL)).isOne();
            }
        });
    }
}
