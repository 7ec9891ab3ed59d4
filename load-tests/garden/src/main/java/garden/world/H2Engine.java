package garden.world;

import java.sql.SQLException;
import java.util.List;
import org.h2.tools.Server;

/** An H2 database in MySQL mode, in this process. */
final class H2Engine implements Engine {

    private final Server server;

    H2Engine() throws SQLException {
        server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
    }

    @Override
    public int port() {
        return server.getPort();
    }

    @Override
    public String user() {
        return "sa";
    }

    @Override
    public String url(int port) {
        return "jdbc:h2:tcp://127.0.0.1:" + port + "/mem:shop;MODE=MySQL;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=1500";
    }

    @Override
    public List<String> schema() {
        return List.of(
                "create table stock (id int primary key, quantity int)",
                "insert into stock select x - 1, 1000000 from system_range(1, 100)",
                "create table orders (id int primary key, customer int, total int)",
                "insert into orders select x, mod(x, 997), mod(x, 89) from system_range(1, 4000)",
                "create alias tax for 'garden.shop.Naps.millis'");
    }

    @Override
    public void stop() {
        server.stop();
    }
}
