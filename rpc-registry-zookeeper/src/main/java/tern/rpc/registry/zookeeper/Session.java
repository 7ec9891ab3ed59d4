package tern.rpc.registry.zookeeper;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;
import tern.rpc.Thrown;
import tern.rpc.concurrent.DaemonThreads;

/**
 * The connection to one ZooKeeper ensemble, with its own thread. Callbacks, watches and listeners run on that thread,
 * so their code needs no locks. Operations never block and are not repeated after a failure. After a failure, the
 * caller waits for {@link Listener#connected} and starts again.
 */
final class Session implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Session.class);

    /** The time without a connection after which provider lists become stale. */
    static final Duration STALE_AFTER = Duration.ofSeconds(10);

    /** The time after the start when the session checks why it is not connected yet. */
    private static final Duration FIRST_CHECK_AFTER = Duration.ofSeconds(1);

    /** The interval between two checks during an outage. A check also reads changed keys and trusted certificates. */
    private static final Duration CHECK_AGAIN_AFTER = Duration.ofSeconds(30);

    /** The minimum time between two log lines about outages. */
    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    private static final int MAX_PARENTS = 100_000;

    /** The number of attempts to create a node while another client keeps deleting its parents. */
    private static final int MAX_CREATIONS = 3;

    /**
     * Listens to changes of the connection's state. No method is called until the first attempt to connect has ended.
     * All methods are called on the session's thread.
     */
    interface Listener {

        /**
         * Called when the session is connected.
         *
         * @param isNew whether this is a new session. The watches and ephemeral nodes of the previous session no longer
         *     exist in a new session
         */
        void connected(boolean isNew);

        /** Called when there has been no connection for {@link #STALE_AFTER}. */
        void stale(String why);
    }

    /** A node's data and state. */
    record Data(byte[] bytes, Stat stat) {}

    private final ZooKeeperSettings settings;
    private final CuratorFramework curator;
    private final ScheduledExecutorService thread;
    private final TaskQueue tasks;
    private final NanoClock clock;
    private final List<Listener> listeners = new ArrayList<>(); // this field is confined to the session's thread

    // The parent nodes that are known to exist. Confined to the session's thread.
    private final Set<String> parents = new HashSet<>();

    private final SharedWatchers watchers = new SharedWatchers(this); // confined to the session's thread
    private final SharedProblems ruleProblems = new SharedProblems(); // confined to the session's thread

    // The ids of the sessions of this process. Confined to the session's thread.
    private final Set<Long> sessions = new HashSet<>();
    private boolean started; // guarded by this
    private volatile long startedNanos;
    private boolean connected; // this field is confined to the session's thread
    private final CutOffLists cutOffLists = new CutOffLists(); // this field is confined to the session's thread
    private long lastSession; // this field is confined to the session's thread
    private long losses; // this field is confined to the session's thread
    private String lastCause = ""; // why there is no connection; confined to the session's thread
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
        this.curator = settings.newClient();
        this.thread = thread;
        this.tasks = new TaskQueue(thread);
        this.clock = clock;
        this.outages = new SeldomWarning(LOG, clock, BETWEEN_WARNINGS);
        curator.getConnectionStateListenable().addListener((client, state) -> execute(() -> changed(state)));
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

    /** Returns the lists that may be too long for the ZooKeeper client. */
    CutOffLists cutOffLists() {
        return cutOffLists;
    }

    /** Returns the watchers of the session. */
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
                            tellStale();
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

    /** Returns the number of tasks that wait for the session's thread, not counting delayed tasks. */
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

    /** Runs a task and logs its exceptions. */
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
                parents.clear();
                watchers.sessionBegins();
                LOG.info("Connected to {}", settings.url());
            }
            tell(listener -> listener.connected(isNew));
        } else if (connected) {
            connected = false;
            long loss = ++losses;
            schedule(() -> check(loss), Duration.ofMillis(settings.connectMillis()));
            schedule(
                    () -> {
                        if (losses == loss) {
                            tellStale();
                        }
                    },
                    STALE_AFTER);
        }
    }

    /**
     * Finds out on a separate thread why there is no connection. Later log lines and error messages contain the result.
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
            lastCause = cause;
            schedule(() -> check(loss), CHECK_AGAIN_AFTER);
            boolean isLate = clock.nanoTime() - startedNanos >= TimeUnit.MILLISECONDS.toNanos(settings.connectMillis());
            if (lastSession == 0 && (isLate || !cause.isEmpty())) {
                // If the address or the TLS settings are wrong, the listeners are informed without further waiting.
                tellStale();
            }
        }
    }

    /** Logs the outage and informs the listeners. A changed cause is logged and reported at most once a minute. */
    private void tellStale() {
        String why = settings.url() + " does not answer" + (lastCause.isEmpty() ? "" : ": " + lastCause);
        if (!why.equals(lastStale)
                && outages.warn(() -> why + "; the lists of providers stay as they are, and it is tried again", null)) {
            lastStale = why;
        }
        outage = lastStale.isEmpty() ? why : lastStale;
        String told = outage;
        tell(listener -> listener.stale(told));
    }

    /**
     * Informs all listeners, even if one of them throws an exception. The other listeners would otherwise keep old
     * lists.
     */
    private void tell(Consumer<Listener> change) {
        List.copyOf(listeners).forEach(listener -> guarded(() -> change.accept(listener)));
    }

    /** Returns the id of the current session; 0 if there is none. */
    long sessionId() {
        try {
            return curator.getZookeeperClient().getZooKeeper().getSessionId();
        } catch (Exception e) { // Curator declares no narrower exception type.
            LOG.debug("No session at {}", settings.url(), e);
            return 0;
        }
    }

    /** Returns whether the session belongs to this process. Must run on the session's thread. */
    boolean wasOurs(long session) {
        return sessions.contains(session);
    }

    private interface Operation<T> {
        void on(ZooKeeper zooKeeper, CompletableFuture<T> result);
    }

    private <T> CompletableFuture<T> run(String path, Operation<T> operation) {
        CompletableFuture<T> result = new CompletableFuture<>();
        if (!connected) {
            result.completeExceptionally(KeeperException.create(Code.CONNECTIONLOSS, path));
            return result;
        }
        try {
            operation.on(curator.getZookeeperClient().getZooKeeper(), result);
        } catch (Exception e) { // Curator declares no narrower exception type.
            result.completeExceptionally(e);
        }
        return result;
    }

    private <T> void end(CompletableFuture<T> result, int code, String path, @Nullable T value) {
        execute(() -> {
            if (code == Code.OK.intValue() && value != null) {
                result.complete(value);
            } else {
                if (code == Code.CONNECTIONLOSS.intValue()) {
                    cutOffLists.lost(result);
                }
                result.completeExceptionally(KeeperException.create(Code.get(code), path));
            }
        });
    }

    /** Reads the names of a node's children. */
    CompletableFuture<List<String>> children(String path, @Nullable Watcher watcher) {
        CompletableFuture<List<String>> request = run(
                path,
                (zooKeeper, result) -> zooKeeper.getChildren(
                        path, watcher, (code, where, context, names) -> end(result, code, path, names), null));
        return request.whenComplete((names, failure) -> cutOffLists.ended(path, request, failure));
    }

    /**
     * Reads a node's state. Fails with NoNode if the node does not exist. The watch is set whether or not the node
     * exists.
     */
    CompletableFuture<Stat> exists(String path, @Nullable Watcher watcher) {
        return run(
                path,
                (zooKeeper, result) -> zooKeeper.exists(
                        path, watcher, (code, where, context, stat) -> end(result, code, path, stat), null));
    }

    /**
     * Reads a node's data. Checks the length of the data first, because the client would close the connection if the
     * response were too long. The watch is set only if the data is read.
     *
     * @return the data. Fails with {@link IllegalArgumentException} if the data is too long
     */
    CompletableFuture<Data> data(String path, int maxBytes, @Nullable Watcher watcher) {
        return exists(path, null).thenCompose(stat -> data(path, stat, maxBytes, watcher));
    }

    /**
     * Reads a node's data like {@link #data}. The watch is set even if the node does not exist or the data is too long.
     * The watch may report a change that the returned data already contains.
     */
    CompletableFuture<Data> watchedData(String path, int maxBytes, @Nullable Watcher watcher) {
        return exists(path, watcher).thenCompose(stat -> data(path, stat, maxBytes, watcher));
    }

    private CompletableFuture<Data> data(String path, Stat stat, int maxBytes, @Nullable Watcher watcher) {
        if (stat.getDataLength() > maxBytes) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(
                    "the node has " + stat.getDataLength() + " bytes, more than " + maxBytes));
        }
        return run(
                path,
                (zooKeeper, result) -> zooKeeper.getData(
                        path,
                        watcher,
                        (code, where, context, bytes, read) ->
                                end(result, code, path, new Data(bytes == null ? new byte[0] : bytes, read)),
                        null));
    }

    /**
     * Creates a node and, if necessary, its parents. If another client has deleted a parent in the meantime, forgets
     * which parents exist and creates the node again.
     */
    CompletableFuture<String> create(String path, byte[] data, CreateMode mode) {
        return create(path, data, mode, 1);
    }

    private CompletableFuture<String> create(String path, byte[] data, CreateMode mode, int tried) {
        return createBelowParents(path, data, mode).exceptionallyCompose(failure -> {
            if (!OperationFailures.isCode(failure, Code.NONODE) || tried == MAX_CREATIONS) {
                return CompletableFuture.failedFuture(failure);
            }
            parents.clear();
            return create(path, data, mode, tried + 1);
        });
    }

    private CompletableFuture<String> createBelowParents(String path, byte[] data, CreateMode mode) {
        return parentsOf(path)
                .thenCompose(made -> run(
                        path,
                        (zooKeeper, result) -> zooKeeper.create(
                                path,
                                data,
                                settings.acl(),
                                mode,
                                (code, where, context, name) -> end(result, code, path, name),
                                null)));
    }

    private CompletableFuture<String> parentsOf(String path) {
        int slash = path.lastIndexOf('/');
        String parent = path.substring(0, slash);
        if (parent.isEmpty() || parents.contains(parent)) {
            return CompletableFuture.completedFuture(parent);
        }
        return create(parent, new byte[0], CreateMode.PERSISTENT)
                .exceptionallyCompose(failure -> OperationFailures.isCode(failure, Code.NODEEXISTS)
                        ? CompletableFuture.completedFuture(parent)
                        : CompletableFuture.failedFuture(failure))
                .whenComplete((made, failure) -> {
                    if (failure == null && parents.size() < MAX_PARENTS) {
                        parents.add(parent);
                    }
                });
    }

    /** Removes a node. Succeeds if the node does not exist. */
    CompletableFuture<String> delete(String path) {
        return this.<String>run(
                        path,
                        (zooKeeper, result) -> zooKeeper.delete(
                                path, -1, (code, where, context) -> end(result, code, path, path), null))
                .exceptionallyCompose(failure -> OperationFailures.isCode(failure, Code.NONODE)
                        ? CompletableFuture.completedFuture(path)
                        : CompletableFuture.failedFuture(failure));
    }

    /**
     * Replaces a node's data. Fails with BadVersion if the node has a different version. If {@code version} is -1, any
     * version is accepted.
     */
    CompletableFuture<Stat> replace(String path, byte[] data, int version) {
        return run(
                path,
                (zooKeeper, result) -> zooKeeper.setData(
                        path, data, version, (code, where, context, stat) -> end(result, code, path, stat), null));
    }

    /** Ends the session. ZooKeeper then removes its ephemeral nodes. */
    @Override
    public void close() {
        closed = true;
        thread.shutdown();
        synchronized (this) {
            curator.close();
        }
        settings.close();
    }
}
