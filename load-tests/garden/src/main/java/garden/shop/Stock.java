package garden.shop;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

@Component
class Stock {

    /** Connections that were not returned, kept so that the fault can be undone. */
    private static final Queue<Connection> LOST = new ConcurrentLinkedQueue<>();

    private final JdbcTemplate jdbc;
    private final DataSource source;

    Stock(JdbcTemplate jdbc, DataSource source) {
        this.jdbc = jdbc;
        this.source = source;
        jdbc.execute("create table if not exists stock (id int primary key, quantity int)");
        jdbc.execute("create alias if not exists nap for 'garden.shop.Naps.millis'");
        for (int i = 0; i < 100; i++) {
            jdbc.update("merge into stock values (?, ?)", i, 1_000_000);
        }
    }

    int left(int id) {
        Integer left = jdbc.queryForObject("select quantity from stock where id = ?", Integer.class, id % 100);
        if (Switches.on("statement-slow")) {
            jdbc.queryForObject("select nap(250) + quantity from stock where id = ?", Integer.class, id % 100);
        }
        if (Switches.on("statements-many")) {
            for (int i = 0; i < 150; i++) {
                jdbc.queryForObject("select quantity + nap(1) from stock where id = ?", Integer.class, i % 100);
            }
        }
        return left == null ? 0 : left;
    }

    void take(int id) {
        jdbc.update("update stock set quantity = quantity - 1 where id = ?", id % 100);
        if (Switches.on("held-over-call")) {
            settle(id);
        }
    }

    /** Holds a connection while it waits for something else. */
    private void settle(int id) {
        try (Connection connection = source.getConnection()) {
            connection.createStatement().executeQuery("select " + id % 100).close();
            Naps.millis(180);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static void findLost() throws SQLException {
        for (Connection connection = LOST.poll(); connection != null; connection = LOST.poll()) {
            connection.close();
        }
    }

    void export(int id) {
        if (Switches.on("connection-leak") && id % 10 == 0) {
            try {
                source.getConnection()
                        .createStatement()
                        .executeQuery("select max(id) from stock")
                        .next();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
