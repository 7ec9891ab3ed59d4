package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;
import org.springframework.stereotype.Component;

@Component
class OrderRepository implements Step {

    private final DataSource source;
    // The connections that the fault leaked. The list keeps the connections, so that undoing the fault can close them.
    private final Queue<Connection> lost = new ConcurrentLinkedQueue<>();

    OrderRepository(DataSource source) {
        this.source = source;
        Switches.listen("table-1", level -> {
            for (Connection one = lost.poll(); level == 0 && one != null; one = lost.poll()) {
                close(one);
            }
        });
    }

    @Override
    public void place(int id) {
        if (Switches.on("table-1") && id % 4 == 0) {
            export();
        }
    }

    @SuppressWarnings("resource") // The injected fault is a connection that is never closed.
    private void export() {
        try {
            Connection connection = source.getConnection();
            lost.add(connection);
            connection
                    .createStatement()
                    .executeQuery("select max(id) from orders")
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
