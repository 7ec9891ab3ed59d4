package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.pool.StoreNames;

/** Tests that code can use a driver's objects through their proxies in the same way as without proxies. */
class WatchedConnectionTest {

    public interface DriverRows extends ResultSet {

        String version();
    }

    private static <T> T proxy(Class<T> type, Map<String, Object> results) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> results.get(method.getName())));
    }

    @Test
    void resultKeepsTheInterfacesOfTheDriver() throws Throwable {
        DriverRows rows = proxy(DriverRows.class, Map.of("version", "23"));
        Statement statement = proxy(Statement.class, Map.of("executeQuery", rows, "getFetchSize", 10));
        Connection driver = proxy(Connection.class, Map.of("createStatement", statement));
        Connection connection =
                WatchedConnection.take(StoreNames.ofDataSources().add("orders"), new Borrowings(), () -> driver);

        Calls.ledgerOf(() -> {
            ResultSet watched = connection.createStatement().executeQuery("select 1");
            assertThat(watched == rows).isFalse();
            assertThat(watched instanceof DriverRows).isTrue();
            assertThat(((DriverRows) watched).version()).isEqualTo("23");
            return null;
        });
    }
}
