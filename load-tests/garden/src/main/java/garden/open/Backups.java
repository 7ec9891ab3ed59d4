package garden.open;

import garden.shop.Naps;
import garden.shop.Switches;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.stereotype.Component;

/** A simulated backup job, which holds database connections. The job does not run as part of a call. */
@Component
class Backups {

    private final DataSource source;

    Backups(DataSource source) {
        this.source = source;
        Switches.listen("sql-5", threads -> {
            for (int i = 0; i < threads; i++) {
                Thread thread = new Thread(this::dump, "backup-" + i);
                thread.setDaemon(true);
                thread.start();
            }
        });
    }

    private void dump() {
        try (Connection connection = source.getConnection()) {
            while (Switches.on("sql-5")) {
                connection
                        .createStatement()
                        .executeQuery("select max(id) from orders")
                        .close();
                Naps.millis(500);
            }
        } catch (SQLException e) {
            // The other threads of the backup job hold all connections of the pool, so this thread ends.
        }
    }
}
