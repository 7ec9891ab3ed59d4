package tern.rpc.netty;

import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.Connection.State;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;

/**
 * The connections to one endpoint for a protocol that transmits one call at a time on a connection. A call takes the
 * idle connection that was used most recently. If no connection is idle, the call opens a new connection, unless the
 * limit is reached. A connection is closed after it has been idle for the {@linkplain
 * ClientTransportSettings#heartbeat() heartbeat interval}. After a failed connection attempt, calls fail immediately
 * until an attempt in the background succeeds. A failing call starts an attempt if half a second has passed since the
 * last attempt started. Blocking callers use their own sockets if the protocol supports this, TLS is off and the server
 * has been reached before. Event loops process all other calls. Thread-safe.
 */
final class ExclusiveConnections implements ClientConnection, ConnectionOwner, CallerConnections.Owner {

    private static final Logger LOG = LoggerFactory.getLogger(ExclusiveConnections.class);

    private record Idle(Connection connection, long sinceNanos) {}

    private final Endpoint endpoint;
    private final ClientTransportSettings settings;
    private final ClientProtocol protocol;
    private final @Nullable TlsContext tls;
    private final EventLoops loops;
    private final Consumer<ClientConnection> whenClosed;
    private final Deque<Idle> idle = new ConcurrentLinkedDeque<>(); // the idle connections, most recently used first
    private final Set<Connection> all = ConcurrentHashMap.newKeySet();
    private final Set<Connection> connecting = ConcurrentHashMap.newKeySet();
    // connections that were opened without a call, and become idle when they are connected
    private final Set<Connection> unused = ConcurrentHashMap.newKeySet();
    // connection attempts started by calls that do not wait for the connection
    private final Set<Connection> begunByCalls = ConcurrentHashMap.newKeySet();
    private final AttemptPace pace;
    private final ReconnectPace reconnects;
    // the number of open connections, including connections of blocking callers
    private final AtomicInteger count = new AtomicInteger();
    private final @Nullable CallerConnections callers;
    // the number of answers that arrived after their calls had ended; covers only closed connections
    private final AtomicLong lateAnswersBefore = new AtomicLong();
    private final AtomicBoolean tidying = new AtomicBoolean();
    private final ReconnectBackoff backoff; // guarded by this
    // the next planned connection attempt; null if none is planned; guarded by this
    private @Nullable ScheduledFuture<?> retry;
    // true if the last connection attempt succeeded, so that later attempts will probably succeed, too
    private volatile boolean reachable;
    private long unreachableNanos = System.nanoTime(); // the time of the last failed attempt; guarded by this
    // the number of times that the server became available; changed only while holding the lock on this object
    private volatile long timesAvailable;
    private volatile boolean closed;
    private final Probes probes;
    private volatile long heardNanos; // the time of the last complete answer; valid if anyHeard is true
    private volatile boolean anyHeard;
    private volatile String lastFailure = "";
    private volatile String lastReason = ""; // the reason why the last attempt failed; kept after a reconnect

    ExclusiveConnections(
            Endpoint endpoint,
            ClientTransportSettings settings,
            ClientProtocol protocol,
            @Nullable TlsContext tls,
            EventLoops loops,
            Consumer<ClientConnection> whenClosed,
            NanoClock clock,
            ReconnectPace reconnects) {
        this.endpoint = endpoint;
        this.settings = settings;
        this.protocol = protocol;
        this.tls = tls;
        this.loops = loops;
        this.whenClosed = whenClosed;
        this.backoff = new ReconnectBackoff(settings);
        this.pace = new AttemptPace(clock);
        this.reconnects = reconnects;
        CallerExchanges exchanges = tls == null ? protocol.callerExchanges(endpoint, settings) : null;
        this.probes = new Probes(() -> new SpareConnection(endpoint, settings, protocol, tls, this::heard), loops);
        this.callers = exchanges == null ? null : new CallerConnections(endpoint, settings, exchanges, loops, this);
    }

    /** Starts a connection attempt, because a call found no connection. */
    private void attemptNow() {
        if (closed || !begunByCalls.isEmpty() || !pace.mayBegin()) {
            return;
        }
        Connection attempt = add(begunByCalls);
        if (attempt != null) {
            unused.add(attempt);
            attempt.connect(loops);
        }
    }

    /** Opens a connection without a call, to find out whether the server can be reached. */
    void open() {
        Connection first = add();
        if (first != null) {
            unused.add(first);
            first.connect(loops);
        }
    }

    @Override
    public Endpoint endpoint() {
        return endpoint;
    }

    @Override
    public boolean isAvailable() {
        return reachable || (!closed && hasIdle());
    }

    /**
     * Returns whether an open socket is free. A server that has reached its connection limit accepts no more sockets,
     * but still answers on open sockets.
     */
    private boolean hasIdle() {
        return !idle.isEmpty() || (callers != null && callers.hasIdle());
    }

    @Override
    public long timesAvailable() {
        return timesAvailable;
    }

    @Override
    public boolean isConnecting() {
        return !isAvailable() && !connecting.isEmpty();
    }

    @Override
    public String lastFailure() {
        return lastFailure;
    }

    @Override
    public void send(PendingCall call) {
        if (closed) {
            call.fail(notSent(call, StatusCode.UNAVAILABLE, "the client is closed"));
            return;
        }
        if (callers != null && call.isAwaited() && !call.isOneWay() && callers.send(call, reachable)) {
            return;
        }
        Connection free = takeIdle();
        if (free != null) {
            if (!free.send(call)) {
                free(free);
            }
            return;
        }
        // "connecting" must be checked before "reachable". When a connection becomes ready, "reachable" is set before
        // the connection is removed from "connecting".
        if (connecting.isEmpty() && !reachable && !giveUpIdleOfCallers()) {
            attemptNow();
            call.fail(notSent(
                    call,
                    StatusCode.UNAVAILABLE,
                    endpoint + " is not connected, " + lastReason + "; reconnecting in the background"));
            return;
        }
        Connection added = add();
        if (added == null) {
            call.fail(notSent(
                    call,
                    StatusCode.RESOURCE_EXHAUSTED,
                    settings.maxInFlight() + " of " + settings.maxInFlight() + " connections to " + endpoint
                            + " are busy (set by rpc.limits.max-calls-per-connection)"));
            return;
        }
        if (!added.send(call)) {
            unused.add(added);
        }
        added.connect(loops);
    }

    @Override
    public ClientStream open(PendingCall call, ClientStream.Receiver receiver) {
        throw notSent(call, StatusCode.UNIMPLEMENTED, "the protocol " + protocol.name() + " has no streams");
    }

    private static RpcException notSent(PendingCall call, StatusCode code, String why) {
        return RpcException.refusal(code, call + " was not sent: " + why, Executed.NO);
    }

    private @Nullable Connection takeIdle() {
        for (Idle taken = idle.pollFirst(); taken != null; taken = idle.pollFirst()) {
            if (taken.connection.state() == State.READY) {
                return taken.connection;
            }
        }
        return null;
    }

    /**
     * Creates a connection and starts connecting it.
     *
     * @return null if the maximum number of connections is reached
     */
    private @Nullable Connection add() {
        return add(connecting);
    }

    private @Nullable Connection add(Set<Connection> opening) {
        if (!countOne() && (callers == null || !callers.giveUpOne())) {
            return null;
        }
        Connection added;
        try {
            added = new Connection(endpoint, settings, protocol, tls, this);
        } catch (Throwable e) {
            // a connection that was not created causes no events, so the connection count is decremented here
            count.decrementAndGet();
            throw e;
        }
        opening.add(added);
        all.add(added);
        if (closed) {
            added.close("the client is closed");
        }
        return added;
    }

    private boolean countOne() {
        if (count.incrementAndGet() > settings.maxInFlight()) {
            count.decrementAndGet();
            return false;
        }
        return true;
    }

    @Override
    public boolean mayOpen() {
        return countOne() || giveUpOne();
    }

    /**
     * Closes an idle socket of the blocking callers, so that a server that has reached its connection limit accepts a
     * new socket. Returns false if there is no idle socket.
     */
    private boolean giveUpIdleOfCallers() {
        boolean given = callers != null && callers.giveUpOne();
        if (given) {
            count.decrementAndGet();
        }
        return given;
    }

    /**
     * Closes an idle event-loop connection to make room for a blocking caller's socket. Returns false if there is no
     * idle connection.
     */
    private boolean giveUpOne() {
        Connection given = takeIdle();
        if (given == null || !all.remove(given)) {
            return false;
        }
        lateAnswersBefore.addAndGet(given.lateAnswers());
        given.close("its place was needed for a connection of another kind");
        return true;
    }

    @Override
    public void gone(@Nullable String unreachable) {
        count.decrementAndGet();
        if (unreachable != null && !closed) {
            unreachable(unreachable);
        }
    }

    @Override
    public void connected() {
        if (!reachable || !lastFailure.isEmpty()) {
            setReachable();
        }
    }

    @Override
    public void changed(Connection connection, State state) {
        if (state == State.READY) {
            connected(connection);
        } else if (state == State.CLOSED) {
            gone(connection);
        }
    }

    private void connected(Connection connection) {
        probes.opened(connection.opening().tookNanos());
        setReachable();
        if (unused.remove(connection)) {
            free(connection);
        }
        begunByCalls.remove(connection);
        // the connection is removed last, so that send() either finds it in "connecting" or sees that "reachable" is
        // true
        connecting.remove(connection);
    }

    /** Returns whether an answer has arrived on an open socket since the last failed connection attempt. */
    private boolean hasAnsweredMeanwhile() {
        return anyHeard && heardNanos - unreachableNanos > 0;
    }

    private synchronized void setReachable() {
        backoff.reset();
        if (!reachable && !closed && !hasAnsweredMeanwhile()) {
            timesAvailable++;
        }
        reachable = !closed;
        lastFailure = "";
    }

    @Override
    public void connectSoon() {
        if (!reachable && connecting.isEmpty()) {
            attemptNow();
        }
    }

    @Override
    public synchronized long untilNextAttemptNanos() {
        return retry == null || reachable ? -1 : Math.max(0, retry.getDelay(TimeUnit.NANOSECONDS));
    }

    @Override
    public boolean isHeardAfter(long nanos) {
        return anyHeard && heardNanos - nanos > 0;
    }

    @Override
    public void heard() {
        heardNanos = System.nanoTime();
        anyHeard = true;
    }

    @Override
    public void probe() {
        if (!closed) {
            probes.begin();
        }
    }

    @Override
    public long pingDelayNanos() {
        return probes.delayNanos();
    }

    @Override
    public void released(Connection connection) {
        heard();
        free(connection);
    }

    private void free(Connection connection) {
        idle.addFirst(new Idle(connection, System.nanoTime()));
        tidyLater();
    }

    private void gone(Connection connection) {
        if (!all.remove(connection)) {
            return;
        }
        count.decrementAndGet();
        unused.remove(connection);
        idle.removeIf(entry -> entry.connection == connection);
        lateAnswersBefore.addAndGet(connection.lateAnswers());
        if ((connecting.contains(connection) || begunByCalls.contains(connection)) && !closed) {
            unreachable(connection.closeReason());
        }
        begunByCalls.remove(connection);
        // the connection is removed last, so that lastReason is set when send() finds no running attempt
        connecting.remove(connection);
    }

    /** Called when a connection attempt has failed. */
    private synchronized void unreachable(String reason) {
        lastReason = reason;
        lastFailure = reason;
        reachable = false;
        unreachableNanos = System.nanoTime();
        if (retry != null) {
            return;
        }
        long pauseMillis = Math.max(1, backoff.nextMillis());
        if (backoff.isNew()) {
            LOG.debug("{} is not connected: {}; next attempt in {} ms", endpoint, reason, pauseMillis);
        }
        int pauses = backoff.pauses();
        retry = loops.group().schedule(() -> reconnects.begin(this::retry, pauses), pauseMillis, TimeUnit.MILLISECONDS);
    }

    /** Starts the scheduled attempt. Returns false if it is no longer needed. */
    private boolean retry() {
        synchronized (this) {
            retry = null;
        }
        if (closed || reachable) {
            return false;
        }
        try {
            open();
        } catch (RuntimeException | Error e) {
            // after an error, another attempt is scheduled, because otherwise this client would never reconnect to the
            // endpoint
            unreachable("the attempt to connect failed: " + Thrown.text(e));
        }
        return true;
    }

    private void tidyLater() {
        if (!closed && !tidying.get() && tidying.compareAndSet(false, true)) {
            loops.group().schedule(this::tidy, settings.heartbeat().toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    /** Closes connections that have been idle for at least the heartbeat interval. */
    private void tidy() {
        try {
            closeIdle();
        } finally {
            tidying.set(false);
            if (!idle.isEmpty()) {
                tidyLater();
            }
        }
    }

    private void closeIdle() {
        long now = System.nanoTime();
        for (Idle oldest = idle.peekLast(); oldest != null; oldest = idle.peekLast()) {
            if (now - oldest.sinceNanos < settings.heartbeat().toNanos()) {
                break;
            }
            if (idle.removeLastOccurrence(oldest)) {
                oldest.connection.close("it was not needed for "
                        + settings.heartbeat().toMillis() + " ms (set by rpc.client.heartbeat)");
            }
        }
    }

    @Override
    public void forEachWaiting(Consumer<PendingCall> action) {
        all.forEach(connection -> connection.forEachWaiting(action));
        if (callers != null) {
            callers.forEachWaiting(action);
        }
    }

    @Override
    public int inFlight() {
        return (int) sum(Connection::inFlight) + (callers == null ? 0 : callers.inFlight());
    }

    @Override
    public long queuedBytes() {
        return sum(connection -> connection.queue().queuedBytes()) + (callers == null ? 0 : callers.queuedBytes());
    }

    @Override
    public long lateAnswers() {
        return lateAnswersBefore.get() + sum(Connection::lateAnswers) + (callers == null ? 0 : callers.lateAnswers());
    }

    private long sum(ToLongFunction<Connection> value) {
        return all.stream().mapToLong(value).sum();
    }

    @Override
    public void close() {
        closed = true;
        reachable = false;
        probes.close();
        all.forEach(connection -> connection.close("the client is closed"));
        if (callers != null) {
            callers.close();
        }
        whenClosed.accept(this);
    }

    @Override
    public String toString() {
        return endpoint.toString();
    }
}
