package shop;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Application code. The tests expect its frames in stack traces. */
public final class Export {

    private Export() {}

    /** Runs a statement and does not close the connection. */
    public static Connection run(DataSource source) throws SQLException {
        Connection connection = source.getConnection();
        connection.createStatement().executeQuery("select 17");
        return connection;
    }
}
