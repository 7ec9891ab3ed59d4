package tern.rpc.registry.zookeeper;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;
import tern.rpc.registry.dubbo.Limits;

/**
 * Watches the children of one node. Reads each child once, and again after each change. Keeps the parsed entries.
 * Confined to the session's thread.
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
         * @throws IllegalArgumentException to ignore the entry and log a warning
         */
        @Nullable
        T read(byte[] data);
    }

    private final Session session;
    private final String path;
    private final Reader<T> reader;
    private final Runnable changed;
    private final ChildNames children;
    private final Map<String, T> entries = new HashMap<>();
    // the names of all children, including children whose entries are ignored
    private final Set<String> known = new HashSet<>();
    private final Deque<String> toRead = new ArrayDeque<>();
    private final Set<String> unread = new HashSet<>(); // the names that are queued in {@code toRead} or are being read
    private int reading;
    private int connection; // incremented on each connection; results of reads from an earlier connection are ignored
    private boolean incomplete;
    private boolean heard;
    private boolean closed;

    /**
     * Creates a watch on a node's children.
     *
     * @param changed called after the first list and after each change
     */
    Folder(Session session, String path, Reader<T> reader, Runnable changed) {
        this.session = session;
        this.path = path;
        this.reader = reader;
        this.changed = changed;
        this.children = new ChildNames(session, path, this::listed);
    }

    void start() {
        session.add(this);
    }

    /** Returns whether the children have been listed at least once. */
    boolean isHeard() {
        return heard;
    }

    Map<String, T> entries() {
        return Collections.unmodifiableMap(entries);
    }

    @Override
    public void connected(boolean isNew) {
        connection++;
        known.removeAll(unread);
        unread.clear();
        toRead.clear();
        reading = 0;
        incomplete = false;
        if (isNew) {
            known.clear(); // The new session has no watches on the children's data, so all children must be read again.
        }
        children.connected();
    }

    @Override
    public void stale(String why) {}

    private void listed(List<String> names) {
        Set<String> current = new HashSet<>(names);
        boolean removed = known.retainAll(current) | entries.keySet().retainAll(current);
        int before = toRead.size();
        for (String name : names) {
            if (known.add(name)) {
                toRead.add(name);
                unread.add(name);
            }
        }
        if (toRead.size() > before || reading > 0) {
            readMore();
        } else if (removed || !heard) {
            heard = true;
            changed.run();
        }
    }

    private void readMore() {
        while (reading < MAX_IN_FLIGHT && !toRead.isEmpty()) {
            reading++;
            read(toRead.remove());
        }
        if (reading == 0 && !incomplete) {
            heard = true;
            changed.run();
        }
    }

    private void read(String name) {
        int current = connection;
        session.data(path + "/" + name, Limits.MAX_ENTRY, event -> dataChanged(name, event))
                .whenComplete((data, failure) -> {
                    if (closed || current != connection) {
                        return;
                    }
                    reading--;
                    unread.remove(name);
                    if (failure == null) {
                        take(name, data.bytes());
                    } else if (failure.getCause() instanceof IllegalArgumentException wrong) {
                        leaveOut(name, wrong);
                    } else if (!Session.isCode(failure, Code.NONODE)) {
                        known.remove(name);
                        incomplete = true; // The entry is read again after a reconnection.
                    }
                    readMore();
                });
    }

    private void dataChanged(String name, EventType event) {
        if (event == EventType.NodeDataChanged && known.contains(name) && !closed) {
            toRead.add(name);
            unread.add(name);
            readMore();
        }
    }

    private void take(String name, byte[] data) {
        try {
            T entry = reader.read(data);
            if (entry == null) {
                entries.remove(name);
            } else if (known.contains(name)) {
                entries.put(name, entry);
            }
        } catch (IllegalArgumentException e) {
            leaveOut(name, e);
        }
    }

    private void leaveOut(String name, IllegalArgumentException wrong) {
        entries.remove(name);
        children.leaveOut(name, wrong);
    }

    void close() {
        closed = true;
        children.close();
        session.remove(this);
    }
}
