package tern.rpc.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.PeriodicTask;
import tern.rpc.SeldomWarning;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;

/**
 * The nodes of one transport that use the same keys and trusted certificates. References that share connections share
 * one node for each endpoint. New connections are opened at a limited rate. When the last reference has released a
 * node, the node's connection is kept for 30 s. After that, the connection is closed as soon as its calls have ended.
 * Thread-safe.
 */
public final class Nodes {

    /** How long an unused connection is kept in case its endpoint is listed again. */
    private static final int KEPT_SECONDS = 30;

    private static final long OPEN_EVERY_MILLIS = 20;

    /** How long an unlisted provider may be silent before the client stops using it. */
    private static final long MAX_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    private static final Logger LOG = LoggerFactory.getLogger(Nodes.class);

    /** The time until the nodes are checked again while one of them is not connected. */
    private static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The time until the nodes are checked again while all of them are connected. */
    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** A reference that uses nodes. */
    static final class User {
        private final String service;
        private final Runnable whenChanged;

        /**
         * @param service the reference's service, for logs and error messages
         * @param whenChanged runs after a node has connected, has lost its connection, or could not be reached; must
         *     not block
         */
        User(String service, Runnable whenChanged) {
            this.service = service;
            this.whenChanged = whenChanged;
        }
    }

    private enum State {
        NOT_CONNECTED,
        FAILED,
        USABLE
    }

    private static final class Shared {
        final Node node;
        final List<User> users =
                new ArrayList<>(); // Contains a reference several times if it uses the node several times.
        int releases; // How often the number of references to the node has dropped to zero.
        // The connection state that the last check of the nodes found. Used only by the task that checks the nodes.
        State state = State.NOT_CONNECTED;

        Shared(Node node) {
            this.node = node;
        }
    }

    private final Function<Endpoint, ClientConnection> connect;
    private final TokenBucket pace;
    private final NodeCounts counts;
    private final NanoClock clock;
    private final ScheduledExecutorService timer;
    private final SeldomWarning failures;
    private final Map<Endpoint, Shared> byEndpoint = new HashMap<>(); // This object's lock guards byEndpoint.
    // The nodes whose connections will be opened, in this order; guarded by this object's lock.
    private final Set<Node> unopened = new LinkedHashSet<>();
    private boolean opening; // True if a task that opens connections is scheduled; guarded by this
    private final Reviews checks;

    /** @param connect opens a connection without blocking */
    Nodes(
            Function<Endpoint, ClientConnection> connect,
            TokenBucket pace,
            NodeCounts counts,
            NanoClock clock,
            ScheduledExecutorService timer) {
        this.connect = connect;
        this.pace = pace;
        this.counts = counts;
        this.clock = clock;
        this.timer = timer;
        this.failures = new SeldomWarning(LOG, clock, BETWEEN_WARNINGS);
        this.checks = new Reviews(new PeriodicTask("The check of the connections", this::check), clock, timer);
    }

    /**
     * Returns the node of an endpoint, which will be connected soon. If the endpoint is already known but cannot be
     * reached, an attempt to connect begins, because its provider may have just been restarted.
     *
     * @param user the reference that uses the node until it releases it
     */
    Node share(Endpoint endpoint, User user) {
        Node node;
        long now = clock.nanoTime();
        synchronized (this) {
            Shared shared = byEndpoint.computeIfAbsent(endpoint, this::unused);
            shared.users.add(user);
            node = shared.node;
            checks.within(node.link().isUsable() ? LATE_NANOS : SOON_NANOS);
            // The node may be neither connected nor in the queue, because nodes that no reference uses are removed from
            // the queue.
            if (unopened.contains(node)) {
                return node;
            }
            if (node.link().opened() == null && !pace.take(now)) {
                queue(node);
                return node;
            }
        }
        if (node.link().opened() == null) {
            open(node); // A failure is only logged, so that the other endpoints can still be used.
        } else {
            attempt(node, now);
        }
        return node;
    }

    /**
     * Checks which nodes are connected, even while there are no calls, and informs the references that use a changed
     * node. A single task checks the nodes of all references, because a client can have thousands of references.
     */
    private void check() {
        List<Shared> used = used();
        long next = LATE_NANOS;
        try {
            Set<User> changed = new LinkedHashSet<>();
            long now = clock.nanoTime();
            for (Shared shared : used) {
                shared.node.look(now);
                State state = state(shared.node);
                if (state != shared.state) {
                    shared.state = state;
                    changed.addAll(users(shared));
                }
                next = state == State.USABLE ? next : SOON_NANOS;
            }
            changed.forEach(user -> user.whenChanged.run());
        } finally {
            if (!used.isEmpty()) {
                checks.within(next);
            }
        }
    }

    private static State state(Node node) {
        return node.link().isUsable() ? State.USABLE : node.link().hasFailed() ? State.FAILED : State.NOT_CONNECTED;
    }

    /**
     * Returns the nodes that references use. Each node has a separate lock, which must be taken before the lock of this
     * object.
     */
    private synchronized List<Shared> used() {
        return byEndpoint.values().stream()
                .filter(shared -> !shared.users.isEmpty())
                .toList();
    }

    private synchronized List<User> users(Shared shared) {
        return List.copyOf(shared.users);
    }

    /**
     * Returns whether the provider at an endpoint is connected or about to be connected, and still answers. The
     * endpoint must be in use, or must have been in use until recently. A provider that has been silent for only a
     * short time counts as answering, because all providers seem to be silent during a pause of this process.
     * Otherwise, the client would stop using unlisted providers after such a pause, and could not use them again until
     * they are listed.
     */
    boolean isAnswering(Endpoint endpoint, long now) {
        Node node = known(endpoint);
        return node != null
                && (node.link().opened() == null
                        || node.link().isUsable()
                        || node.link().isConnecting())
                && node.stalledForNanos(now) < MAX_SILENCE_NANOS;
    }

    private synchronized @Nullable Node known(Endpoint endpoint) {
        Shared shared = byEndpoint.get(endpoint);
        return shared == null ? null : shared.node;
    }

    private Shared unused(Endpoint endpoint) {
        ChangeLog log = new ChangeLog(LOG, clock, timer);
        return new Shared(
                new Node(endpoint, () -> connect.apply(endpoint), () -> name(endpoint), log, counts, clock.nanoTime()));
    }

    private synchronized void queue(Node node) {
        unopened.add(node);
        openLater();
    }

    private void openLater() {
        if (!opening) {
            opening = true;
            schedule(this::openSome, OPEN_EVERY_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Returns the endpoint's address and the services that use it, for logs and error messages. */
    private synchronized String name(Endpoint endpoint) {
        Shared shared = byEndpoint.get(endpoint);
        return shared == null || shared.users.isEmpty()
                ? endpoint.toString()
                : endpoint + " of "
                        + ChangeTexts.services(
                                shared.users.stream().map(user -> user.service).toList());
    }

    private void openSome() {
        List<Node> due = new ArrayList<>();
        synchronized (this) {
            opening = false;
            while (!unopened.isEmpty()) {
                Node next = unopened.iterator().next();
                boolean wanted = isUsed(next) && next.link().opened() == null;
                if (wanted && !pace.take(clock.nanoTime())) {
                    openLater();
                    break;
                }
                unopened.remove(next);
                if (wanted) {
                    due.add(next);
                }
            }
        }
        due.forEach(this::open);
    }

    private void open(Node node) {
        try {
            node.link().connection();
        } catch (RuntimeException | Error e) { // Opening can fail temporarily, for example if memory is low.
            failures.warn(() -> "Connecting to " + node.endpoint() + " failed; the next attempt begins in a second", e);
            schedule(() -> queue(node), 1, TimeUnit.SECONDS);
        }
    }

    private boolean isUsed(Node node) {
        Shared shared = byEndpoint.get(node.endpoint());
        return shared != null && shared.node == node && !shared.users.isEmpty();
    }

    /**
     * Starts connecting to a provider whose connection is lost, in addition to the connection's automatic attempts.
     * Does nothing if the last such attempt began less than half a second ago.
     *
     * @return false if enough attempts have been started for all providers
     */
    boolean attempt(Node node, long now) {
        if (!node.link().isAttemptDue(now)) {
            return true;
        }
        if (!pace.take(now)) {
            return false;
        }
        node.link().attempt(now);
        return true;
    }

    void giveBack(Node node, User user) {
        release(node, user, KEPT_SECONDS);
    }

    /**
     * Releases a node that could not be reached. Its connection is not kept, because it would continue to try to
     * connect.
     */
    void drop(Node node, User user) {
        release(node, user, 0);
    }

    private synchronized void release(Node node, User user, int keptSeconds) {
        Shared shared = byEndpoint.get(node.endpoint());
        if (shared == null || shared.node != node || !shared.users.remove(user) || !shared.users.isEmpty()) {
            return;
        }
        int release = ++shared.releases;
        schedule(() -> close(shared, release), keptSeconds, TimeUnit.SECONDS);
    }

    private void close(Shared shared, int release) {
        synchronized (this) {
            if (!shared.users.isEmpty() || shared.releases != release) {
                return;
            }
            byEndpoint.remove(shared.node.endpoint(), shared);
        }
        closeWhenQuiet(shared.node.link().opened());
    }

    /**
     * Closes a connection that gets no new calls, as soon as its calls have ended. A stream can last for hours. If the
     * provider no longer exists, the connection detects this itself.
     */
    private void closeWhenQuiet(@Nullable ClientConnection connection) {
        if (connection == null) {
            return;
        }
        if (connection.inFlight() == 0 || timer.isShutdown()) {
            connection.close();
        } else {
            schedule(() -> closeWhenQuiet(connection), 1, TimeUnit.SECONDS);
        }
    }

    private void schedule(Runnable task, long delay, TimeUnit unit) {
        try {
            timer.schedule(task, delay, unit);
        } catch (RejectedExecutionException e) { // The client has been closed, which also closes all connections.
            return;
        }
    }
}
