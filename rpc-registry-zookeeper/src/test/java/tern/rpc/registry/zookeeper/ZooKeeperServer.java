package tern.rpc.registry.zookeeper;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.NettyServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.apache.zookeeper.server.auth.X509AuthenticationProvider;
import tern.rpc.registry.RegistryUrl;

/** An embedded ZooKeeper server, and a client that reads its nodes. */
final class ZooKeeperServer implements AutoCloseable {

    static {
        // By default, a server rejects nodes larger than 1 MiB. A larger limit can be configured, so the test
        // configures one.
        System.setProperty("jute.maxbuffer", String.valueOf(16 * 1024 * 1024));
    }

    private static final String X509_PROVIDER = "zookeeper.authProvider.x509";
    private static final int TICK_MILLIS = 500;
    private static final int MAX_SESSION_MILLIS = 60_000;

    private final Path directory;
    private final CuratorFramework client;
    private org.apache.zookeeper.server.ZooKeeperServer server;
    private ServerCnxnFactory factory;
    private ServerCnxnFactory tlsFactory;
    private int port;

    ZooKeeperServer() throws Exception {
        directory = Files.createTempDirectory("zookeeper");
        restart();
        client = CuratorFrameworkFactory.newClient(address(), new RetryNTimes(100, 100));
        client.start();
        client.blockUntilConnected();
    }

    /**
     * Opens a second port that accepts only TLS. The server reads its keys from system properties.
     *
     * @return the port
     */
    int openTlsPort() throws Exception {
        System.setProperty(ServerCnxnFactory.ZOOKEEPER_SERVER_CNXN_FACTORY, NettyServerCnxnFactory.class.getName());
        try {
            tlsFactory = ServerCnxnFactory.createFactory();
        } finally {
            System.clearProperty(ServerCnxnFactory.ZOOKEEPER_SERVER_CNXN_FACTORY);
        }
        System.setProperty(X509_PROVIDER, X509AuthenticationProvider.class.getName());
        // The authentication provider reads the trusted certificates as soon as it is added.
        ProviderRegistry.addOrUpdateProvider(X509_PROVIDER);
        tlsFactory.configure(new InetSocketAddress("127.0.0.1", 0), -1, -1, true);
        tlsFactory.startup(server, false);
        return tlsFactory.getLocalPort();
    }

    String address() {
        return "127.0.0.1:" + port;
    }

    RegistryUrl url() {
        return RegistryUrl.parse("zookeeper://" + address());
    }

    void create(String path, String data, CreateMode mode) throws Exception {
        client.create().creatingParentsIfNeeded().withMode(mode).forPath(path, data.getBytes(StandardCharsets.UTF_8));
    }

    /** Creates a persistent node without waiting until the node exists. */
    void createLater(String path, String data) throws Exception {
        client.create().inBackground().forPath(path, data.getBytes(StandardCharsets.UTF_8));
    }

    void replace(String path, String data) throws Exception {
        client.setData().forPath(path, data.getBytes(StandardCharsets.UTF_8));
    }

    void delete(String path) throws Exception {
        client.delete().forPath(path);
    }

    void deleteTree(String path) throws Exception {
        client.delete().deletingChildrenIfNeeded().forPath(path);
    }

    /** Allows clients to read the node, but not to create or delete the node's children. */
    void protect(String path) throws Exception {
        acl(path, ZooDefs.Perms.READ | ZooDefs.Perms.ADMIN);
    }

    /** Allows no client to read the node. The node can still be deleted. */
    void hide(String path) throws Exception {
        acl(path, ZooDefs.Perms.ADMIN);
    }

    void unprotect(String path) throws Exception {
        acl(path, ZooDefs.Perms.ALL);
    }

    private void acl(String path, int permissions) throws Exception {
        client.setACL()
                .withACL(List.of(new ACL(permissions, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
                .forPath(path);
    }

    boolean exists(String path) throws Exception {
        return stat(path) != null;
    }

    Stat stat(String path) throws Exception {
        return client.checkExists().forPath(path);
    }

    String data(String path) throws Exception {
        return new String(client.getData().forPath(path), StandardCharsets.UTF_8);
    }

    List<String> children(String path) throws Exception {
        return exists(path) ? new ArrayList<>(client.getChildren().forPath(path)) : List.of();
    }

    /** Returns the session id of this client. A registry must not treat this session's ephemeral nodes as its own. */
    long session() throws Exception {
        return client.getZookeeperClient().getZooKeeper().getSessionId();
    }

    /** Expires all sessions except this client's. */
    void expireOthers() throws Exception {
        long own = session();
        server.getSessionTracker().globalSessions().stream()
                .filter(session -> session != own)
                .forEach(server::closeSession);
    }

    /** Returns the number of the server's sessions. */
    int sessions() {
        return server.getSessionTracker().globalSessions().size();
    }

    /** Expires a session, as if its client had been silent for too long. */
    void expire(long session) {
        server.closeSession(session);
    }

    void stop() {
        if (tlsFactory != null) {
            tlsFactory.shutdown();
        }
        factory.shutdown();
    }

    /** Restarts the server on the same port and with the same nodes. */
    void restart() throws Exception {
        server = new org.apache.zookeeper.server.ZooKeeperServer(directory.toFile(), directory.toFile(), TICK_MILLIS);
        server.setMaxSessionTimeout(MAX_SESSION_MILLIS);
        factory = ServerCnxnFactory.createFactory(new InetSocketAddress("127.0.0.1", port), -1);
        factory.startup(server);
        port = factory.getLocalPort();
    }

    /** Deletes all nodes and sessions of the stopped server, which starts empty afterwards. */
    void loseData() throws Exception {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        }
    }

    @Override
    public void close() throws Exception {
        client.close();
        stop();
        loseData();
    }
}
