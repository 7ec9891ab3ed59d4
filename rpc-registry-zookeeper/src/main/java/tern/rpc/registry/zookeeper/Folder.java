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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.dubbo.Limits;

/**
 * Watches the children of one node. Reads each child once, and again when it changes, and keeps the parsed entries.
 * Confined to the session's thread.
 */
final class Folder<T> implements Session.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(Folder.class);

    private static final int MAX_CHILDREN = 100_000;
    private static final int MAX_IN_FLIGHT = 64;

    /** Parses a child's entry. */
    interface Reader<T> {

        /**
         * Parses an entry.
         *
         * @param data the data of the child; null if the name contains the whole entry
         * @return the entry; null to ignore the entry
         * @throws IllegalArgumentException to ignore the entry and log a warning
         */
        @Nullable
        T read(String name, byte @Nullable [] data);
    }

    private final Session session;
    private final String path;
    private final boolean withData;
    private final Reader<T> reader;
    private final Runnable changed;
    private final Map<String, T> entries = new HashMap<>();
    // the names of all children, including children whose entries are ignored
    private final Set<String> known = new HashSet<>();
    private final Deque<String> toRead = new ArrayDeque<>();
    private final Set<String> unread = new HashSet<>(); // the names that are queued in {@code toRead} or are being read
    private int reading;
    private int connection; // incremented on each connection; results of reads from an earlier connection are ignored
    private boolean incomplete;
    private boolean listing;
    private boolean listAgain;
    private boolean heard;
    private boolean closed;
    private boolean warned;

    /**
     * Creates a watch on a node's children.
     *
     * @param withData whether a child's data is the entry; if false, the child's name is the entry
     * @param changed called after the first list and after each change
     */
    Folder(Session session, String path, boolean withData, Reader<T> reader, Runnable changed) {
        this.session = session;
        this.path = path;
        this.withData = withData;
        this.reader = reader;
        this.changed = changed;
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
        listing = false;
        incomplete = false;
        if (isNew && withData) {
            known.clear(); // The new session has no watches on the children's data, so all children must be read again.
        }
        list();
    }

    @Override
    public void stale(String why) {}

    /** Lists the children again. */
    void list() {
        if (closed) {
            return;
        }
        if (listing) {
            listAgain = true;
            return;
        }
        listing = true;
        listAgain = false;
        int current = connection;
        session.children(path, event -> list()).whenComplete((names, failure) -> {
            if (current != connection) {
                return;
            }
            listing = false;
            if (failure == null) {
                listed(names);
            } else if (Session.isCode(failure, Code.NONODE)) {
                // If the node exists by now, the children are listed again; otherwise this watch reports the node's
                // creation.
                session.exists(path, event -> list()).thenRun(this::list);
                listed(List.of());
            } else if (Session.isCode(failure, Code.NOAUTH)) {
                warn("cannot be listed: " + session.reason(failure));
            } else {
                LOG.debug("{} cannot be listed at {}", path, session.settings().url(), failure);
            }
            if (listAgain && session.isConnected()) {
                list();
            }
        });
    }

    private void listed(List<String> names) {
        if (closed) {
            return;
        }
        List<String> accepted = names;
        if (names.size() > MAX_CHILDREN) {
            accepted = names.stream().sorted().limit(MAX_CHILDREN).toList();
            warn("has " + names.size() + " entries; the first " + MAX_CHILDREN + " in the order of their names count");
        }
        Set<String> current = new HashSet<>(accepted);
        boolean removed = known.retainAll(current) | entries.keySet().retainAll(current);
        int before = toRead.size();
        for (String name : accepted) {
            if (known.add(name)) {
                if (withData) {
                    toRead.add(name);
                    unread.add(name);
                } else {
                    take(name, null);
                    removed = true;
                }
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

    private void take(String name, byte @Nullable [] data) {
        try {
            T entry = reader.read(name, data);
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
        warn("has an entry that is left out, " + Limits.shown(name) + ": " + wrong.getMessage());
    }

    /** Logs at most one warning, because a client that writes invalid entries could otherwise fill the log. */
    private void warn(String what) {
        if (warned) {
            LOG.debug("{} at {} {}", Limits.shown(path), session.settings().url(), what);
        } else {
            warned = true;
            LOG.warn(
                    "{} at {} {}. Further ones are logged at level DEBUG",
                    Limits.shown(path),
                    session.settings().url(),
                    what);
        }
    }

    void close() {
        closed = true;
        session.remove(this);
    }
}
