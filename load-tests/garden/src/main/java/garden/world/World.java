package garden.world;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.springframework.context.ConfigurableApplicationContext;
import redis.embedded.RedisServer;

/**
 * The databases of the shop application, and the servers that it calls. Confined to one thread, except for parts that
 * are documented as thread-safe.
 */
public final class World implements AutoCloseable {

    private final Store redis = new Store();
    private final Database database;
    private final Peer express = new Peer();
    private final Peer parcel = new Peer();
    private final ConfigurableApplicationContext rates = RateApplication.start();
    private final Link redisLink = new Link(redis.port());
    private final Link databaseLink;
    private final Link expressLink = new Link(express.port());
    private final Link parcelLink = new Link(parcel.port());
    private final Link ratesLink = new Link(
            Integer.parseInt(Objects.requireNonNull(rates.getEnvironment().getProperty("local.rpc.port"))));
    private final Machine machine = new Machine();

    /**
     * @param mariaDb whether the database is MariaDB, which must then be installed; otherwise it is H2
     */
    public World(boolean mariaDb) throws IOException, SQLException {
        database = new Database(mariaDb ? new MariaDbEngine() : new H2Engine());
        databaseLink = new Link(database.port());
    }

    /** A Redis server in a separate process. */
    static final class Store {

        private final int port;
        private final RedisServer server;

        Store() throws IOException {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = socket.getLocalPort();
            }
            server = new RedisServer(port);
            server.start();
        }

        int port() {
            return port;
        }
    }

    public Database database() {
        return database;
    }

    public Peer express() {
        return express;
    }

    public Peer parcel() {
        return parcel;
    }

    public RateDesk rates() {
        return rates.getBean(RateDesk.class);
    }

    public Link redisLink() {
        return redisLink;
    }

    public Link databaseLink() {
        return databaseLink;
    }

    public Link expressLink() {
        return expressLink;
    }

    public Link parcelLink() {
        return parcelLink;
    }

    public Link ratesLink() {
        return ratesLink;
    }

    public Machine machine() {
        return machine;
    }

    /** Returns the application arguments that contain the addresses of all databases and servers. */
    public List<String> addresses() {
        List<String> addresses = new ArrayList<>(database.address(databaseLink.port()));
        addresses.addAll(List.of(
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + redisLink.port(),
                "--garden.express-port=" + expressLink.port(),
                "--garden.parcel-port=" + parcelLink.port(),
                "--rpc.client.services.RateService.url=127.0.0.1:" + ratesLink.port()));
        return addresses;
    }

    /** Undoes all faults in the databases, servers and network links. */
    public void heal() throws SQLException, IOException {
        for (Link link : List.of(redisLink, databaseLink, expressLink, parcelLink, ratesLink)) {
            link.heal();
        }
        express.heal();
        parcel.heal();
        rates().heal();
        database.heal();
        machine.heal();
    }

    @Override
    public void close() throws IOException {
        for (Link link : List.of(redisLink, databaseLink, expressLink, parcelLink, ratesLink)) {
            link.close();
        }
        machine.heal();
        machine.forget();
        rates.close();
        express.stop();
        parcel.stop();
        database.stop();
        redis.server.stop();
    }
}
