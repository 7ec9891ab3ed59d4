package tern.rpc.registry.zookeeper;

import java.time.Duration;
import java.util.function.LongConsumer;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import tern.rpc.NanoClock;

/**
 * Limits the rate of new sessions. If a server ends each session at once, Curator opens the next session without a
 * pause. Each session needs two threads and several descriptors, and causes about ten lines in the log. The first
 * sessions begin without a pause, because a session may expire at any time. Thread-safe.
 */
final class PacedSessions implements ZookeeperFactory {

    private static final int AT_ONCE = 5;
    private static final long BETWEEN_NANOS = Duration.ofSeconds(2).toNanos();

    private final ZookeeperFactory factory;
    private final NanoClock clock;
    private final LongConsumer pause;
    private volatile boolean closed;
    private boolean started; // guarded by this
    private long dueNanos; // the earliest time of the next session at the limited rate; guarded by this

    /** @param pause blocks the calling thread for a number of nanoseconds */
    PacedSessions(ZookeeperFactory factory, NanoClock clock, LongConsumer pause) {
        this.factory = factory;
        this.clock = clock;
        this.pause = pause;
    }

    @Override
    public ZooKeeper newZooKeeper(String servers, int sessionMillis, Watcher watcher, boolean canBeReadOnly)
            throws Exception {
        pace();
        return factory.newZooKeeper(servers, sessionMillis, watcher, canBeReadOnly);
    }

    @Override
    public ZooKeeper newZooKeeper(
            String servers, int sessionMillis, Watcher watcher, boolean canBeReadOnly, ZKClientConfig config)
            throws Exception {
        pace();
        return factory.newZooKeeper(servers, sessionMillis, watcher, canBeReadOnly, config);
    }

    private void pace() {
        long wait = nanosToWait();
        if (wait > 0) {
            pause.accept(wait);
        }
        if (closed) {
            // No client is created, because Curator would not close it after Curator itself has been closed.
            throw new IllegalStateException("the connection to ZooKeeper is closed");
        }
    }

    /** Makes every later attempt to create a session fail. */
    void close() {
        closed = true;
    }

    private synchronized long nanosToWait() {
        long now = clock.nanoTime();
        if (!started || dueNanos - now < 0) {
            started = true;
            dueNanos = now;
        }
        long wait = dueNanos - now - (AT_ONCE - 1) * BETWEEN_NANOS;
        dueNanos += BETWEEN_NANOS;
        return wait;
    }
}
