package tern.rpc.registry.zookeeper;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;
import tern.rpc.registry.dubbo.KnownProcesses.NoRoomException;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.SortedEntries;

/**
 * Watches the children of one node. Reads each child once, and again after each change of the child. If children change
 * frequently, reads them at growing intervals. A child that cannot be read is omitted, and is read again after growing
 * pauses. Keeps the parsed entries. Confined to the session's thread.
 */
final class Folder<T> implements Session.Listener {

    private static final int MAX_IN_FLIGHT = 64;

    /** Parses a child's entry. */
    interface Reader<T> {

        /**
         * Parses an entry.
         *
         * @param data the data of the child
         * @return the entry; null to ignore the entry
         * @throws NoRoomException to ignore the entry for now, log a warning, and read the child again later
         * @throws IllegalArgumentException to ignore the entry and log a warning
         */
        @Nullable
        T read(byte[] data);
    }

    /** A child in the last list. A child that disappears from a list and returns in a later list gets a new object. */
    private static final class Child<T> {
        final String name;
        long list; // the number of the last list that contained the child

        @Nullable
        T entry; // the parsed entry; null if the child has not been read or its entry is ignored

        boolean unread = true; // true if the child must be read when it is listed again
        boolean queued; // true if the child is queued in {@code toRead} or is being read

        Child(String name) {
            this.name = name;
        }
    }

    private final Session session;
    private final String path;
    private final Reader<T> reader;
    private final Runnable changed;
    private final String key; // the key in the session's watchers of the watcher that all children share
    private final Consumer<WatchedEvent> listener = this::childChanged;

    // The watcher of all children's data; null before the start. There can be very many children, so they share one
    // watcher.
    private @Nullable Watcher watcher;
    private final ChildNames names;
    private final CoalescedTask dataChanges;
    private final Map<String, Child<T>> children = new HashMap<>();
    private final SortedEntries<T> sorted;
    private final Deque<Child<T>> toRead = new ArrayDeque<>();
    private final Set<Child<T>> failed = new LinkedHashSet<>(); // the listed children whose last read failed
    private final Retry retry;
    private long lists;
    private int reading;
    private int connection; // the number of connections so far; results of reads from an earlier connection are ignored
    private boolean incomplete;
    private boolean heard;
    private boolean closed;

    /**
     * Creates a watch on a node's children.
     *
     * @param order the order of the entries
     * @param changed called after the first list and after each change
     */
    Folder(Session session, String path, Comparator<T> order, Reader<T> reader, Runnable changed) {
        this.session = session;
        this.path = path;
        this.reader = reader;
        this.changed = changed;
        this.key = path + "/*";
        this.names = new ChildNames(session, path, ChildNames.MAX_CHILDREN, this::listed, this::unreadable);
        this.dataChanges = new CoalescedTask(session, this::readChanged);
        this.sorted = new SortedEntries<>(order);
        this.retry = new Retry(session, this::readFailed);
    }

    void start() {
        watcher = session.watchers().add(key, listener);
        session.add(this);
    }

    /** Reads pending changes of the children without waiting for the end of the current interval. */
    void hurry() {
        names.hurry();
        dataChanges.hurry();
    }

    /** Returns true once the children have been listed, or an attempt to list them has failed. */
    boolean isHeard() {
        return heard;
    }

    /** Returns the entries in order. The list is immutable, and the same object is returned until an entry changes. */
    List<T> entries() {
        return sorted.list();
    }

    @Override
    public void connected(boolean isNew) {
        connection++;
        toRead.clear();
        reading = 0;
        incomplete = false;
        for (Child<T> child : children.values()) {
            // A new session has no watches on the children's data, so all children must be read again.
            child.unread |= child.queued || isNew;
            child.queued = false;
        }
        failed.forEach(child -> child.unread = true);
        names.connected();
    }

    @Override
    public void stale(String why) {}

    private void listed(List<String> listed) {
        lists++;
        boolean added = false;
        for (String name : listed) {
            Child<T> child = children.get(name);
            if (child == null) {
                child = new Child<>(name);
                children.put(name, child);
            }
            child.list = lists;
            if (child.unread) {
                child.unread = false;
                queue(child);
                added = true;
            }
        }
        boolean removed = listed.size() < children.size();
        if (removed) {
            children.values().removeIf(this::isRemoved);
        }
        if (added || reading > 0) {
            readMore();
        } else if (removed || !heard) {
            heard = true;
            changed.run();
        }
    }

    /**
     * Called when the children of the node cannot be listed. If they have never been listed, the node is treated as if
     * it had no children, so that the list of providers does not wait for them.
     */
    private void unreadable() {
        if (!heard) {
            heard = true;
            changed.run();
        }
    }

    private boolean isRemoved(Child<T> child) {
        if (child.list == lists) {
            return false;
        }
        set(child, null);
        failed.remove(child);
        return true;
    }

    private void set(Child<T> child, @Nullable T entry) {
        if (child.entry != null) {
            sorted.remove(child.entry);
        }
        child.entry = entry;
        if (entry != null) {
            sorted.add(entry);
        }
    }

    private void queue(Child<T> child) {
        if (!child.queued) {
            child.queued = true;
            toRead.add(child);
        }
    }

    private void readChanged() {
        if (!toRead.isEmpty() && !closed) {
            readMore();
        }
    }

    private void readMore() {
        while (reading < MAX_IN_FLIGHT && !toRead.isEmpty()) {
            Child<T> child = toRead.remove();
            if (isListed(child)) {
                reading++;
                read(child);
            }
        }
        if (reading == 0 && !incomplete) {
            heard = true;
            changed.run();
        }
    }

    private void read(Child<T> child) {
        int current = connection;
        session.nodes().data(path + "/" + child.name, Limits.MAX_ENTRY, watcher).whenComplete((data, failure) -> {
            if (!closed && current == connection) {
                session.guarded(() -> answered(child, data, failure));
            }
        });
    }

    private void answered(Child<T> child, NodeOperations.@Nullable Data data, @Nullable Throwable failure) {
        reading--;
        child.queued = false;
        if (data != null) {
            boolean hasFailed = failed.remove(child);
            if (!take(child, data.bytes())) {
                tryAgain(child);
            } else if (hasFailed) {
                retry.succeeded();
            }
        } else if (failure == null || OperationFailures.isCode(failure, Code.NONODE)) {
            // The child has been deleted. If it is created again, it is read as soon as a new list of children contains
            // it.
            child.unread = true;
        } else if (OperationFailures.isConnectionLost(failure)) {
            child.unread = true;
            incomplete = true; // After the reconnection, the child is read again before the entries are used.
        } else {
            failed(child, failure);
        }
        readMore();
    }

    /**
     * Tries to read the child again later. The child's last entry stays in use unless this client may not read the
     * child.
     */
    private void failed(Child<T> child, Throwable failure) {
        if (OperationFailures.isRefusal(failure)) {
            leaveOut(child, OperationFailures.whyUnreadable(failure, session.settings()));
        } else {
            names.leaveUnread(child.name, OperationFailures.whyUnreadable(failure, session.settings()));
        }
        tryAgain(child);
    }

    private void tryAgain(Child<T> child) {
        if (isListed(child)) {
            failed.remove(child);
            // The child moves to the end of the failed children, so that all other failed children are read before it.
            failed.add(child);
            // The next read is scheduled, because no watch reports changes of a child that could not be read.
            retry.failed();
        }
    }

    /**
     * Repeats some of the failed reads of children. The number of these reads is limited, because all of them might
     * fail again.
     */
    private void readFailed() {
        if (!closed && !failed.isEmpty()) {
            failed.stream().limit(MAX_IN_FLIGHT).forEach(this::queue);
            // At most MAX_IN_FLIGHT children whose read failed are read again at a time. The others are read again
            // after another pause.
            retry.failed();
            readMore();
        }
    }

    private void childChanged(WatchedEvent event) {
        Child<T> child = children.get(event.getPath().substring(path.length() + 1));
        if (closed || child == null) {
            return;
        }
        if (event.getType() == EventType.NodeDataChanged) {
            queue(child);
            dataChanges.changed();
        } else if (event.getType() == EventType.NodeDeleted) {
            // The deletion of the child also triggers the parent's watch, so the list of names is read again. If the
            // child has been created again by then, the list contains its name, and the child is read.
            child.unread = true;
        }
    }

    private boolean isListed(Child<T> child) {
        return children.get(child.name) == child;
    }

    /** @return false if the child must be read again, because there was no room for its entry */
    private boolean take(Child<T> child, byte[] data) {
        try {
            T entry = reader.read(data);
            if (isListed(child)) {
                set(child, entry);
            }
        } catch (NoRoomException e) {
            leaveOut(child, Limits.shown(String.valueOf(e.getMessage())));
            return false;
        } catch (IllegalArgumentException e) {
            leaveOut(child, Limits.shown(String.valueOf(e.getMessage())));
        } catch (RuntimeException e) { // An unreadable entry must not prevent the use of other entries.
            leaveOut(child, Limits.shown(e.toString()));
        }
        return true;
    }

    private void leaveOut(Child<T> child, String why) {
        if (isListed(child)) {
            set(child, null);
        }
        names.leaveOut(child.name, why);
    }

    void close() {
        closed = true;
        names.close();
        session.remove(this);
        session.watchers().remove(key, listener);
    }
}
