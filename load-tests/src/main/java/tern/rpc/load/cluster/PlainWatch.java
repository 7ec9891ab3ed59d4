package tern.rpc.load.cluster;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/**
 * Watches the list of instances with ZooKeeper's own client, without any other processing. The measured delay is
 * therefore ZooKeeper's own delay.
 */
final class PlainWatch implements AutoCloseable {

    private static final int SESSION_MILLIS = 30_000;
    private static final long PATIENCE_SECONDS = 60;

    private record Seen(int size, long nanos) {}

    private final ZooKeeper keeper;
    private final BlockingQueue<Seen> lists = new LinkedBlockingQueue<>();

    private PlainWatch(String address) throws IOException {
        this.keeper = new ZooKeeper(address, SESSION_MILLIS, event -> {
            // Session events are ignored. The watch on the list has its own callback.
        });
    }

    static PlainWatch start(String address) throws IOException {
        PlainWatch watch = new PlainWatch(address);
        watch.read();
        return watch;
    }

    private void read() {
        keeper.getChildren(ManyInstances.FOLDER, event -> read(), this::seen, null);
    }

    private void seen(int code, String path, Object context, List<String> names) {
        if (code == KeeperException.Code.OK.intValue()) {
            lists.add(new Seen(names.size(), System.nanoTime()));
        }
    }

    /**
     * Waits for a list of {@code size} instances. Returns the time when the list arrived, on the clock of
     * {@link System#nanoTime()}.
     */
    long await(int size) throws InterruptedException, TimeoutException {
        Seen seen;
        do {
            seen = lists.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (seen == null) {
                throw new TimeoutException("no list of " + size + " within " + PATIENCE_SECONDS + " s");
            }
        } while (seen.size() != size);
        return seen.nanos();
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
