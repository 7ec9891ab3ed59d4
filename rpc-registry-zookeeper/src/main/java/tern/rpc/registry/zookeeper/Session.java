package tern.rpc.registry.zookeeper;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.utils.DefaultZookeeperFactory;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;
import tern.rpc.Thrown;
import tern.rpc.concurrent.DaemonThreads;

/**
 * The connection to one ZooKeeper ensemble, with its own thread. Callbacks, watches and listeners run on that thread,
 * so their code needs no locks.
 */
final class Session implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Session.class);

    /** The time without a connection after which provider lists become stale. */
    static final Duration STALE_AFTER = Duration.ofSeconds(10);

    /**
     * If the session is still not connected after this time, it starts to determine why the ZooKeeper server cannot be
     * reached.
     */
    private static final Duration FIRST_CHECK_AFTER = Duration.ofSeconds(1);

    /**
     * The interval between two checks during an outage. A check also reads keys and trusted certificates that have
     * changed.
     */
    private static final Duration CHECK_AGAIN_AFTER = Duration.ofSeconds(30);

    /** The minimum time between two log lines about outages. */
    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    /**
     * Receives changes of the connection's state. No method is called until the first attempt to connect has ended. All
     * methods are called on the session's thread.
     */
    interface Listener {

        /**
         * Called when the session is connected.
         *
         * @param isNew whether this is a new session. If so, the watches and ephemeral nodes of the previous session no
         *     longer exist
         */
        void connected(boolean isNew);

        /** Called when there has been no connection for {@link #STALE_AFTER}. */
        void stale(String why);
    }

    private final ZooKeeperSettings settings;
    private final PacedSessions paced =
            new PacedSessions(new DefaultZookeeperFactory(), NanoClock.SYSTEM, LockSupport::parkNanos);
    private final CuratorFramework curator;
    private final ScheduledExecutorService thread;
    private final TaskQueue tasks;
    private final NanoClock clock;
    private final List<Listener> listeners = new ArrayList<>(); // only the session's thread uses this field

    private final NodeOperations nodes;
    private final SharedWatchers watchers = new SharedWatchers(this); // only the session's thread uses this field
    private final SharedProblems ruleProblems = new SharedProblems(); // only the session's thread uses this field

    // The ids of the sessions of this process. Confined to the session's thread.
    private final Set<Long> sessions = new HashSet<>();
    private boolean started; // guarded by this
    private volatile long startedNanos;
    private boolean connected; // only the session's thread uses this field
    private final DeniedSession denied = new DeniedSession(this); // only the session's thread uses this field
    private final CutOffLists cutOffLists = new CutOffLists(); // only the session's thread uses this field
    private long lastSession; // only the session's thread uses this field
    private long losses; // only the session's thread uses this field
    private String lastCause = ""; // the reason why there is no connection; confined to the session's thread
    private String lastStale = ""; // the last message logged during an outage; confined to the session's thread
    private String outage = ""; // the last message to the listeners during an outage; confined to the session's thread
    private final SeldomWarning outages;
    private volatile String lastTlsFailure = "";
    private volatile boolean closed;

    Session(ZooKeeperSettings settings) {
        this(settings, newThread(), NanoClock.SYSTEM);
    }

    /** @param thread runs all tasks of the session on one thread; the session shuts it down */
    Session(ZooKeeperSettings settings, ScheduledExecutorService thread, NanoClock clock) {
        this.settings = settings;
        this.curator = settings.newClient(paced);
        this.thread = thread;
        this.tasks = new TaskQueue(thread);
        this.nodes = new NodeOperations(this, cutOffLists);
        this.clock = clock;
        this.outages = new SeldomWarning(LOG, clock, BETWEEN_WARNINGS);
        curator.getConnectionStateListenable().addListener((client, state) -> execute(() -> changed(state)));
        curator.getCuratorListenable().addListener((client, event) -> watched(event.getWatchedEvent()));
    }

    private static ScheduledExecutorService newThread() {
        ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, DaemonThreads.named("rpc-zookeeper"));
        thread.setRemoveOnCancelPolicy(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return thread;
    }

    NanoClock clock() {
        return clock;
    }

    ZooKeeperSettings settings() {
        return settings;
    }

    /** Returns the record of lists that might be too long for the ZooKeeper client. */
    CutOffLists cutOffLists() {
        return cutOffLists;
    }

    /** Returns the operations on the ensemble's nodes. */
    NodeOperations nodes() {
        return nodes;
    }

    SharedWatchers watchers() {
        return watchers;
    }

    /**
     * Returns the counters of problems with rules. If several watches have the same problem with a rule, the counters
     * ensure that the problem is logged only once.
     */
    SharedProblems ruleProblems() {
        return ruleProblems;
    }

    /** Starts connecting to the ensemble. A second call has no effect. */
    synchronized void start() {
        if (!started && !closed) {
            started = true;
            startedNanos = clock.nanoTime();
            curator.start();
            schedule(
                    () -> check(0),
                    Duration.ofMillis(Math.min(FIRST_CHECK_AFTER.toMillis(), settings.connectMillis())));
            schedule(
                    () -> {
                        if (lastSession == 0) {
                            reportOutage();
                        }
                    },
                    STALE_AFTER);
        }
    }

    /** Runs a task on the session's thread. */
    void execute(Runnable task) {
        if (closed) {
            LOG.debug("{} is closed", settings.url());
            return;
        }
        try {
            tasks.add(() -> guarded(task));
        } catch (RejectedExecutionException e) {
            LOG.debug("{} is closed", settings.url(), e);
        }
    }

    /** Returns the number of tasks waiting for the session's thread. Delayed tasks are not counted. */
    int waitingTasks() {
        return tasks.size();
    }

    void schedule(Runnable task, Duration delay) {
        try {
            thread.schedule(() -> guarded(task), delay.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("{} is closed", settings.url(), e);
        }
    }

    /** Runs a task, and logs an exception that the task throws. */
    void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            Thrown.log(e, shown -> LOG.error("A change at {} could not be handled", settings.url(), shown));
        }
    }

    /**
     * Adds a listener, which is notified immediately if the session is connected, or if there is an outage. Must run on
     * the session's thread.
     */
    void add(Listener listener) {
        listeners.add(listener);
        if (connected) {
            listener.connected(true);
        } else if (!outage.isEmpty()) {
            listener.stale(outage);
        }
    }

    void remove(Listener listener) {
        listeners.remove(listener);
    }

    boolean isConnected() {
        return connected;
    }

    /** Called by the ZooKeeper client for each event. */
    private void watched(@Nullable WatchedEvent event) {
        if (event == null || event.getType() != EventType.None) {
            return;
        }
        if (event.getState() == KeeperState.AuthFailed) {
            execute(() -> {
                denied.began();
                changed(ConnectionState.LOST);
                lastCause = denied.why();
                reportOutage();
            });
        } else if (event.getState() == KeeperState.SyncConnected) {
            execute(() -> {
                // Curator does not report a new connection if it has not noticed the end of the previous connection.
                if (denied.ended() && !connected) {
                    changed(ConnectionState.RECONNECTED);
                }
            });
        }
    }

    /** Connects again with a new session, which sends the user and the password again. */
    void connectAgain() {
        try {
            curator.getZookeeperClient().reset();
        } catch (Exception e) { // Curator declares no narrower exception type.
            LOG.debug("The session with {} cannot be opened again", settings.url(), e);
        }
    }

    private void changed(ConnectionState state) {
        if (state == ConnectionState.CONNECTED || state == ConnectionState.RECONNECTED) {
            long session = sessionId();
            boolean isNew = session != lastSession;
            lastSession = session;
            sessions.add(session);
            connected = true;
            cutOffLists.connected();
            lastCause = "";
            lastStale = "";
            outage = "";
            losses++;
            if (isNew) {
                nodes.sessionBegins();
                watchers.sessionBegins();
                LOG.info("Connected to {}", settings.url());
            }
            notifyListeners(listener -> listener.connected(isNew));
        } else if (connected) {
            connected = false;
            long loss = ++losses;
            schedule(() -> check(loss), Duration.ofMillis(settings.connectMillis()));
            schedule(
                    () -> {
                        if (losses == loss) {
                            reportOutage();
                        }
                    },
                    STALE_AFTER);
        }
    }

    /**
     * Determines on a separate thread why there is no connection. Later log lines and error messages contain the
     * result.
     */
    private void check(long loss) {
        if (connected || losses != loss || closed) {
            return;
        }
        DaemonThreads.named("rpc-zookeeper-check")
                .newThread(() -> {
                    refreshTls();
                    String cause = settings.connectionCheck().cause();
                    execute(() -> checked(loss, cause));
                })
                .start();
    }

    /** Reads changed keys and trusted certificates. Logs a failure only if it differs from the previous failure. */
    private void refreshTls() {
        try {
            settings.refreshTls();
            lastTlsFailure = "";
        } catch (UncheckedIOException | IllegalArgumentException e) {
            if (!lastTlsFailure.equals(String.valueOf(e))) {
                lastTlsFailure = String.valueOf(e);
                LOG.error("Changed keys or trusted certificates for {} cannot be used", settings.url(), e);
            }
        }
    }

    private void checked(long loss, String cause) {
        if (!connected && losses == loss) {
            lastCause = cause.isEmpty() ? denied.why() : cause;
            schedule(() -> check(loss), CHECK_AGAIN_AFTER);
            boolean isLate = clock.nanoTime() - startedNanos >= TimeUnit.MILLISECONDS.toNanos(settings.connectMillis());
            if (lastSession == 0 && (isLate || !cause.isEmpty())) {
                // If the address or the TLS settings are wrong, the listeners are informed without waiting any longer.
                reportOutage();
            }
        }
    }

    /** Logs the outage and informs the listeners. A changed cause is logged and reported at most once a minute. */
    private void reportOutage() {
        String why = settings.url() + " does not answer" + (lastCause.isEmpty() ? "" : ": " + lastCause);
        if (!why.equals(lastStale)
                && outages.warn(() -> why + "; the lists of providers stay as they are, and Tern tries again", null)) {
            lastStale = why;
        }
        outage = lastStale.isEmpty() ? why : lastStale;
        String current = outage;
        notifyListeners(listener -> listener.stale(current));
    }

    /**
     * Informs all listeners, even if one of them throws an exception. Otherwise, the remaining listeners would keep
     * outdated lists.
     */
    private void notifyListeners(Consumer<Listener> change) {
        List.copyOf(listeners).forEach(listener -> guarded(() -> change.accept(listener)));
    }

    /** Returns the id of the current session; 0 if there is none. */
    long sessionId() {
        try {
            return zooKeeper().getSessionId();
        } catch (Exception e) { // Curator declares no narrower exception type.
            LOG.debug("No session at {}", settings.url(), e);
            return 0;
        }
    }

    /** Returns whether the session belongs to this process. Must run on the session's thread. */
    boolean wasOurs(long session) {
        return sessions.contains(session);
    }

    /** Returns the client's connection to the ensemble. The connection might have been lost. */
    ZooKeeper zooKeeper() throws Exception { // Curator declares no narrower exception type.
        return curator.getZookeeperClient().getZooKeeper();
    }

    /** Ends the session. ZooKeeper then removes its ephemeral nodes. */
    @Override
    public void close() {
        closed = true;
        thread.shutdown();
        paced.close();
        synchronized (this) {
            curator.close();
        }
        settings.close();
    }
}
