package tern.rpc.registry.zookeeper;

import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;
import tern.rpc.registry.dubbo.Limits;

/**
 * Reads the data of one node, and reads it again when it changes. While changes continue, the data is read at growing
 * intervals. If the node cannot be read, tries again after growing pauses. Confined to the session's thread.
 */
final class NodeData implements Session.Listener {

    interface Reader {

        /** @param data the node's data; null if the node does not exist */
        void read(byte @Nullable [] data);

        /**
         * Called if the node exists but cannot be read.
         *
         * @param why the reason, for logs
         */
        void unreadable(String why);
    }

    private final Session session;
    private final String path;
    private final Reader reader;
    private final CoalescedTask changes;
    private final Consumer<WatchedEvent> listener;
    private @Nullable Watcher watcher; // the watcher of the node; null before the start
    private final Retry retry;
    private int connection; // the number of connections so far; answers from earlier connections are ignored
    private boolean reading;
    private boolean readAgain;
    private boolean heard;
    private boolean closed;

    NodeData(Session session, String path, Reader reader) {
        this.session = session;
        this.path = path;
        this.reader = reader;
        this.changes = new CoalescedTask(session, this::read);
        this.listener = event -> changes.changed();
        this.retry = new Retry(session, this::read);
    }

    void start() {
        watcher = session.watchers().add(path, listener);
        session.add(this);
    }

    @Override
    public void connected(boolean isNew) {
        connection++;
        reading = false;
        read();
    }

    @Override
    public void stale(String why) {}

    private void read() {
        if (closed) {
            return;
        }
        if (reading) {
            readAgain = true;
            return;
        }
        reading = true;
        readAgain = false;
        int current = connection;
        session.nodes().watchedData(path, Limits.MAX_ENTRY, watcher).whenComplete((data, failure) -> {
            if (!closed && current == connection) {
                session.guarded(() -> answered(data, failure));
            }
        });
    }

    private void answered(NodeOperations.@Nullable Data data, @Nullable Throwable failure) {
        reading = false;
        if (readAgain && session.isConnected()) {
            read();
        }
        if (data != null) {
            heard(data.bytes());
        } else if (failure == null || OperationFailures.isCode(failure, Code.NONODE)) {
            heard(null);
        } else if (!OperationFailures.isConnectionLost(failure)) {
            unreadable(failure);
        }
    }

    private void heard(byte @Nullable [] data) {
        heard = true;
        retry.succeeded();
        reader.read(data);
    }

    /**
     * Reports the failure if this client lacks permission to read the node, if the node is too large, or if no data has
     * been read before. After other failures, the data from the last read stays in use.
     */
    private void unreadable(Throwable failure) {
        // The read is repeated, because ZooKeeper does not report changes to a node that this client may not read.
        retry.failed();
        if (!heard || OperationFailures.isRefusal(failure)) {
            heard = true;
            reader.unreadable(OperationFailures.whyUnreadable(failure, session.settings()));
        }
    }

    void close() {
        closed = true;
        session.remove(this);
        session.watchers().remove(path, listener);
    }
}
