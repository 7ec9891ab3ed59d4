package garden.world;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.h2.tools.Server;

/** The shop's database: H2 in MySQL's mode, in this process, which the shop reaches through a link. Confined to one thread. */
public final class Database {

    private final Server server;
    private final List<Connection> strangers = new ArrayList<>();

    Database() throws SQLException {
        server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
        execute(
                "create table stock (id int primary key, quantity int)",
                "insert into stock select x - 1, 1000000 from system_range(1, 100)",
                "create table orders (id int primary key, customer int, total int)",
                "insert into orders select x, mod(x, 997), mod(x, 89) from system_range(1, 4000)",
                "create alias tax for 'garden.shop.Naps.millis'");
    }

    int port() {
        return server.getPort();
    }

    /** The address of the database behind a link. */
    static String url(int port) {
        return "jdbc:h2:tcp://127.0.0.1:" + port + "/mem:shop;MODE=MySQL;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=1500";
    }

    public void execute(String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(port()), "sa", "");
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** Begins a transaction of somebody else, which lasts until the garden is healed. */
    public void stranger(String sql) throws SQLException {
        Connection connection = DriverManager.getConnection(url(port()), "sa", "");
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
        server.stop();
    }
}
