package com.example.office;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

public class Files {

    private final DataSource database;

    Files(DataSource database) throws SQLException {
        this.database = database;
        try (Connection connection = database.getConnection()) {
            connection.createStatement().execute("create table if not exists files(id int primary key, uses int)");
            connection.createStatement().execute("merge into files values(1, 0)");
            connection
                    .createStatement()
                    .execute("create alias if not exists audit for '" + Files.class.getName() + ".audit'");
        }
    }

    /** Implements the SQL function {@code audit}, which the database calls. */
    public static int audit(int number) {
        Fault.STATEMENT.pauseIfInjected();
        return number;
    }

    int open(int number) throws SQLException {
        try (Connection connection = database.getConnection()) {
            run(connection, "select uses from files where id = ?", 1);
            run(connection, "select audit(?)", number);
            return run(connection, "select count(*) from files where id < ?", 9);
        }
    }

    int export(int number) throws SQLException {
        Connection connection = database.getConnection();
        int result = run(connection, "select uses + 1 from files where id = ?", 1);
        if (!Fault.LEAK.isInjected()) {
            connection.close();
        }
        return result + number;
    }

    private static int run(Connection connection, String sql, int value) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, value);
            try (var result = statement.executeQuery()) {
                return result.next() ? result.getInt(1) : -1;
            }
        }
    }
}
