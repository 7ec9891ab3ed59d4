package tern.rpc.load.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server in this process, on a free port of the loopback address. The server starts without data. */
final class EmbeddedZooKeeper implements AutoCloseable {

    private static final int TICK_MILLIS = 500;
    private static final int MAX_SESSION_MILLIS = 60_000;

    private final Path data;
    private final ServerCnxnFactory sockets;

    private EmbeddedZooKeeper(Path data, ServerCnxnFactory sockets) {
        this.data = data;
        this.sockets = sockets;
    }

    /**
     * Starts the server.
     *
     * @param data the folder for the server's data, which is emptied at the start and at the end
     */
    static EmbeddedZooKeeper start(Path data) throws IOException, InterruptedException {
        delete(data);
        Files.createDirectories(data);
        ZooKeeperServer server = new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS);
        server.setMaxSessionTimeout(MAX_SESSION_MILLIS);
        ServerCnxnFactory sockets =
                ServerCnxnFactory.createFactory(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), -1);
        sockets.startup(server);
        return new EmbeddedZooKeeper(data, sockets);
    }

    /** Returns the address as a value of the {@code rpc.server.registry} property. */
    String url() {
        return "zookeeper://127.0.0.1:" + sockets.getLocalPort();
    }

    @Override
    public void close() {
        sockets.shutdown();
        try {
            delete(data);
        } catch (IOException e) {
            System.err.println(data + " could not be deleted: " + e.getMessage());
        }
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
