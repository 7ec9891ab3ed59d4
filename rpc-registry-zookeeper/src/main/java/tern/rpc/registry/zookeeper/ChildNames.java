package tern.rpc.registry.zookeeper;

import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.dubbo.Limits;

/**
 * Lists the names of the children of one node, and lists them again when they change. While changes continue, the names
 * are listed at growing intervals, because each answer contains all names. Does not keep the names. Confined to the
 * session's thread.
 */
final class ChildNames {

    private static final Logger LOG = LoggerFactory.getLogger(ChildNames.class);

    private static final int MAX_CHILDREN = 100_000;

    private final Session session;
    private final String path;
    private final Consumer<List<String>> listed;
    private final CoalescedTask changes;
    private int connection; // incremented on each connection; answers from an earlier connection are ignored
    private boolean listing;
    private boolean listAgain;
    private boolean closed;
    private boolean warned;

    /**
     * Creates a watch on the names of a node's children.
     *
     * @param listed receives all names after each change, or no names while the node does not exist
     */
    ChildNames(Session session, String path, Consumer<List<String>> listed) {
        this.session = session;
        this.path = path;
        this.listed = listed;
        this.changes = new CoalescedTask(session, this::list);
    }

    /** Lists the children after a connection has been established. */
    void connected() {
        connection++;
        listing = false;
        list();
    }

    private void list() {
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
        session.children(path, event -> changes.changed()).whenComplete((names, failure) -> {
            if (current != connection) {
                return;
            }
            listing = false;
            if (failure == null) {
                listed(names);
            } else if (Session.isCode(failure, Code.NONODE)) {
                // If the node exists by now, the children are listed again. Otherwise this watch reports the node's
                // creation.
                session.exists(path, event -> changes.changed()).thenRun(this::list);
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
        listed.accept(accepted);
    }

    /** Logs that a child's entry is left out. */
    void leaveOut(String name, IllegalArgumentException wrong) {
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
    }
}
