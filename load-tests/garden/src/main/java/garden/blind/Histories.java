package garden.blind;

import garden.shop.Step;
import garden.shop.Switches;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

@Component
class Histories implements Step {

    private final JdbcTemplate jdbc;
    private final DataSource source;
    // The connections that the fault leaked. The list keeps the connections, so that undoing the fault can close them.
    private final Queue<Connection> lost = new ConcurrentLinkedQueue<>();

    Histories(JdbcTemplate jdbc, DataSource source) {
        this.jdbc = jdbc;
        this.source = source;
        Switches.listen("sql-4", level -> {
            for (Connection one = lost.poll(); level == 0 && one != null; one = lost.poll()) {
                close(one);
            }
        });
    }

    @Override
    public void history(int id) {
        if (Switches.on("sql-2")) {
            lines((int) Switches.level("sql-2"));
        }
        if (Switches.on("sql-4")) {
            summary(id);
        }
        if (Switches.on("errors-2")) {
            jdbc.queryForObject("select sum(points) from loyalty where customer = ?", Integer.class, id);
        }
    }

    @Override
    public void place(int id) {
        if (Switches.on("virtual-2")) {
            jdbc.queryForObject(
                    "select tax(?) + count(*) from orders where customer = ?",
                    Integer.class,
                    (int) Switches.level("virtual-2"),
                    id);
        }
    }

    private void lines(int count) {
        for (int i = 1; i <= count; i++) {
            jdbc.queryForObject("select total from orders where id = ?", Integer.class, i);
        }
    }

    @SuppressWarnings("resource") // the injected fault: the connection is never closed
    private void summary(int id) {
        try {
            Connection connection = source.getConnection();
            lost.add(connection);
            connection
                    .createStatement()
                    .executeQuery("select sum(total) from orders where customer = " + id % 7)
                    .close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
