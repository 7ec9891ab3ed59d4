package tern.rpc.registry.zookeeper;

import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.dubbo.Limits;

/**
 * Lists the names of the children of one node, and lists them again when they change. While changes continue, the names
 * are listed at growing intervals, because each answer contains all names. The names are not kept. Confined to the
 * session's thread.
 */
final class ChildNames {

    private static final Logger LOG = LoggerFactory.getLogger(ChildNames.class);

    /** Matches a token in a provider's URL. A child's name is usually the percent-encoded URL. */
    private static final Pattern TOKEN = Pattern.compile(
            "(?<=token=)[^&]*|(?<=token%3D).*?(?=%26|&|\\z)", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    static final int MAX_CHILDREN = 100_000;

    private final Session session;
    private final String path;
    private final int most;
    private final Consumer<List<String>> listed;
    private final Runnable unreadable;
    private final CoalescedTask changes;
    private final Consumer<WatchedEvent> listener = event -> changed();
    private @Nullable Watcher watcher; // the watcher of the node's children; null before the first connection
    private final Retry retry;
    private int connection; // the number of connections so far; answers from an earlier connection are ignored
    private boolean listing;
    private boolean listAgain;
    private boolean tooMany; // true if the last list had too many names
    private boolean closed;
    private boolean warned;

    /**
     * Creates a watch on the names of a node's children.
     *
     * @param most the maximum number of names to use. A longer list is read only after pauses of up to 30 seconds,
     *     because such a read takes a long time
     * @param listed receives all names after each change, or no names while the node does not exist
     * @param unreadable called if the names cannot be listed although the session is connected. The names are listed
     *     again after a pause
     */
    ChildNames(Session session, String path, int most, Consumer<List<String>> listed, Runnable unreadable) {
        this.session = session;
        this.path = path;
        this.most = most;
        this.listed = listed;
        this.unreadable = unreadable;
        this.changes = new CoalescedTask(session, this::list);
        this.retry = new Retry(session, this::list);
    }

    private void changed() {
        if (tooMany) {
            retry.failed();
        } else {
            changes.changed();
        }
    }

    /** Lists the names of the node's children. Called each time a connection has been established. */
    void connected() {
        if (closed) {
            return;
        }
        if (watcher == null) {
            watcher = session.watchers().add(path, listener);
        }
        connection++;
        listing = false;
        if (session.cutOffLists().isTooLong(path)) {
            retry.failed();
            warn("cannot be listed: the connection is lost whenever the names are received. Probably they have"
                    + " more than "
                    + ZooKeeperSettings.MAX_ANSWER + " bytes, or ZooKeeper is overloaded");
            unreadable.run();
        } else {
            list();
        }
    }

    /** Lists the children early if they have changed since the last list. */
    void hurry() {
        changes.hurry();
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
        session.nodes().children(path, watcher).whenComplete((names, failure) -> {
            if (!closed && current == connection) {
                session.guarded(() -> answered(names, failure));
            }
        });
    }

    private void answered(@Nullable List<String> names, @Nullable Throwable failure) {
        listing = false;
        if (listAgain && session.isConnected()) {
            list();
        }
        if (names != null) {
            tooMany = names.size() > most;
            if (!tooMany) {
                retry.succeeded();
            }
            listed(names);
        } else if (failure == null || OperationFailures.isCode(failure, Code.NONODE)) {
            // If the node exists now, its children are listed again. If the node does not exist, this watch reports its
            // creation later.
            session.nodes().exists(path, watcher).thenRun(this::list);
            retry.succeeded();
            listed(List.of());
        } else if (!OperationFailures.isConnectionLost(failure)) {
            // The list is requested again, because ZooKeeper does not report changes to a node that this client may not
            // read.
            retry.failed();
            warn("cannot be listed: " + OperationFailures.whyUnreadable(failure, session.settings()));
            unreadable.run();
        }
    }

    private void listed(List<String> names) {
        List<String> accepted = names;
        if (names.size() > most) {
            accepted = names.stream().sorted().limit(most).toList();
            warn("has " + names.size() + " entries; the first " + most + " in the order of their names count");
        }
        listed.accept(accepted);
    }

    /** Logs that a child's entry is left out. */
    void leaveOut(String name, IllegalArgumentException wrong) {
        leaveOut(name, Limits.shown(String.valueOf(wrong.getMessage())));
    }

    /**
     * Logs that a child's entry is left out.
     *
     * @param why the reason. Text from the registry must have been prepared with {@link Limits#shown}
     */
    void leaveOut(String name, String why) {
        warn("has an entry that is left out, " + shown(name) + ": " + why);
    }

    /** Logs that a child could not be read, and that the child's last known entry stays in use. */
    void leaveUnread(String name, String why) {
        warn("has an entry that cannot be read, " + shown(name) + ": " + why + ". Tern tries again");
    }

    /** Returns the child's name for messages, without the token that a Dubbo provider publishes in the name. */
    static String shown(String name) {
        return Limits.shown(TOKEN.matcher(name).replaceAll("***"));
    }

    /** Logs a warning only once, because a client that writes invalid entries could otherwise fill the log. */
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
        session.watchers().remove(path, listener);
    }
}
