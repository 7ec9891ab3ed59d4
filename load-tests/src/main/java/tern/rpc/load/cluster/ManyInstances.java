package tern.rpc.load.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import tern.rpc.ServiceKey;
import tern.rpc.registry.Registration;
import tern.rpc.registry.dubbo.DubboEntries;

/**
 * The application-level entries of up to 60,000 instances in a ZooKeeper server. Each instance has its own loopback
 * address. All of these addresses lead to one server, which listens on all addresses of this machine.
 */
final class ManyInstances implements AutoCloseable {

    /** The name of the application whose instances are started. */
    static final String APPLICATION = "many";

    /** The path of the node whose children are the instances. */
    static final String FOLDER = "/services/" + APPLICATION;

    // The highest value of the last octet in an instance's IPv4 address.
    private static final int LAST_PARTS = 250;
    private static final int AT_ONCE = 200;
    private static final int SESSION_MILLIS = 30_000;
    private static final long PATIENCE_SECONDS = 120;

    private final ZooKeeper keeper;
    private final int port;

    /**
     * @param address the host and port of the ZooKeeper server
     * @param port the port of the server that all registered addresses reach
     */
    ManyInstances(String address, int port) throws IOException {
        this.keeper = new ZooKeeper(address, SESSION_MILLIS, event -> {
            // Events are ignored, because each call to ZooKeeper waits for its own answer.
        });
        this.port = port;
    }

    /** Returns the registration that a provider with the address of this instance would publish. */
    static Registration registration(int instance, int port) {
        return new Registration(
                APPLICATION,
                "127.1." + instance / LAST_PARTS + "." + (instance % LAST_PARTS + 1),
                port,
                List.of("dubbo"),
                List.of(new Registration.Service(
                        new ServiceKey(NodeService.class.getName(), "", ""), List.of("work"), 100)),
                Map.of(),
                0,
                1_795_000_000_000L + instance);
    }

    private DubboEntries entries(int instance) {
        return new DubboEntries(registration(instance, port), false);
    }

    /** Creates one instance and waits until ZooKeeper has confirmed it. */
    void create(int instance) throws Exception {
        create(instance, instance + 1);
    }

    /** Deletes one instance and waits until ZooKeeper has confirmed it. */
    void delete(int instance) throws Exception {
        delete(instance, instance + 1);
    }

    /** Creates the instances {@code from} to {@code to - 1} and waits until ZooKeeper has confirmed them. */
    void create(int from, int to) throws Exception {
        each(from, to, (instance, end) -> {
            DubboEntries entries = entries(instance);
            byte[] data = entries.process().json(instance).getBytes(StandardCharsets.UTF_8);
            keeper.create(
                    FOLDER + "/" + entries.process().id(),
                    data,
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT,
                    (code, path, context, name) -> end.done(code, path),
                    null);
        });
    }

    /** Deletes the instances {@code from} to {@code to - 1} and waits until ZooKeeper has confirmed them. */
    void delete(int from, int to) throws Exception {
        each(
                from,
                to,
                (instance, end) -> keeper.delete(
                        FOLDER + "/" + entries(instance).process().id(),
                        -1,
                        (code, path, context) -> end.done(code, path),
                        null));
    }

    private interface Write {
        void start(int instance, End end);
    }

    private interface End {
        void done(int code, String path);
    }

    private static void each(int from, int to, Write write) throws Exception {
        Semaphore places = new Semaphore(AT_ONCE);
        CompletableFuture<Void> failure = new CompletableFuture<>();
        for (int instance = from; instance < to && !failure.isDone(); instance++) {
            acquire(places, 1);
            write.start(instance, (code, path) -> {
                if (code != KeeperException.Code.OK.intValue()) {
                    failure.completeExceptionally(KeeperException.create(KeeperException.Code.get(code), path));
                }
                places.release();
            });
        }
        acquire(places, AT_ONCE);
        failure.getNow(null);
    }

    private static void acquire(Semaphore places, int count) throws InterruptedException, TimeoutException {
        if (!places.tryAcquire(count, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new TimeoutException("ZooKeeper did not answer within " + PATIENCE_SECONDS + " s");
        }
    }

    @Override
    public void close() {
        try {
            keeper.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
