package garden.world;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * The shop application's database. The application connects to the database through a {@link Link}. Confined to one
 * thread.
 */
public final class Database {

    private final Engine engine;
    private final List<Connection> strangers = new ArrayList<>();

    Database(Engine engine) throws SQLException {
        this.engine = engine;
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : engine.schema()) {
                statement.execute(sql);
            }
        }
    }

    int port() {
        return engine.port();
    }

    /** Returns the command-line arguments for a database behind a simulated network link. */
    List<String> address(int port) {
        return List.of("--spring.datasource.url=" + engine.url(port), "--spring.datasource.username=" + engine.user());
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(engine.url(port()), engine.user(), "");
    }

    /** Executes a statement on a separate connection, and keeps its transaction open until the faults are undone. */
    public void stranger(String sql) throws SQLException {
        Connection connection = connect();
        connection.setAutoCommit(false);
        strangers.add(connection);
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    void heal() throws SQLException {
        for (Connection connection : strangers) {
            connection.rollback();
            connection.close();
        }
        strangers.clear();
    }

    void stop() {
        engine.stop();
    }
}
