package tern.rpc.netty;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
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
 * The connections to one endpoint, for a protocol that transmits many calls on a connection at the same time. There is
 * usually one connection. If the server permits too few concurrent calls on it, there can be {@link ExtraConnections
 * additional connections}. A lost or draining connection is replaced. The first replacements are immediate; later ones
 * follow after pauses that double, with full jitter. A call that finds no connection fails, but can start a connection
 * attempt before the pause ends. A draining connection stays open until its last answer has arrived. A replacement
 * accepts calls once the server has sent bytes on it. Thread-safe.
 */
final class ConnectionPool implements ClientConnection, ConnectionOwner {

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionPool.class);

    private static final String CLOSED = "the client is closed";

    private final Endpoint endpoint;
    private final ClientTransportSettings settings;
    private final ClientProtocol protocol;
    private final @Nullable TlsContext tls;
    private final EventLoops loops;
    private final Consumer<ClientConnection> whenClosed;
    private final AtomicReferenceArray<Connection> current;
    private final AtomicInteger turn = new AtomicInteger();
    // guarded by this
    private final List<Connection> retiring = new ArrayList<>();
    // lost connections with calls that have received only part of their answers; guarded by this
    private final List<Connection> lostWhileAnswering = new ArrayList<>();
    // guarded by this
    private final ReconnectBackoff backoff;
    // the lost connections that will be replaced; guarded by this
    private final Map<Connection, ReconnectPause> pauses = new IdentityHashMap<>();
    // connections that were opened by calls during the pause after a failed attempt and are not ready yet
    private final Set<Connection> begunByCalls = ConcurrentHashMap.newKeySet();
    private final AttemptPace pace;
    private final ReconnectPace reconnects;
    private final ExtraConnections extra;
    private volatile boolean available;
    // the number of times that "available" became true; changed only while holding the lock on this object
    private volatile long timesAvailable;
    private volatile boolean closed;
    private volatile boolean heard;
    private volatile String lastFailure = "";
    private volatile String lastReason = ""; // the reason why the last connection was lost; kept after a reconnect

    ConnectionPool(
            Endpoint endpoint,
            int size,
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
        this.extra = new ExtraConnections(
                this, owner -> new Connection(endpoint, settings, protocol, tls, owner, true), settings, loops, clock);
        Connection[] first = new Connection[size];
        for (int i = 0; i < size; i++) {
            first[i] = new Connection(endpoint, settings, protocol, tls, this);
        }
        this.current = new AtomicReferenceArray<>(first);
    }

    void open() {
        for (int i = 0; i < current.length(); i++) {
            current.get(i).connect(loops);
        }
    }

    @Override
    public Endpoint endpoint() {
        return endpoint;
    }

    @Override
    public boolean isAvailable() {
        return available;
    }

    @Override
    public long timesAvailable() {
        return timesAvailable;
    }

    /**
     * Returns whether this pool is opening a connection. A connection that is ready counts as being opened until this
     * pool has been notified.
     */
    @Override
    public boolean isConnecting() {
        return !available && (isAnyConnecting() || isAnyReady(null));
    }

    @Override
    public String lastFailure() {
        return lastFailure;
    }

    @Override
    public void send(PendingCall call) {
        Connection chosen = choose();
        if (chosen == null || closed) {
            attemptNow();
            call.fail(notConnected(call));
        } else {
            chosen.send(call);
        }
    }

    @Override
    public ClientStream open(PendingCall call, ClientStream.Receiver receiver) {
        Connection chosen = choose();
        if (chosen == null || closed) {
            attemptNow();
            throw notConnected(call);
        }
        return chosen.open(call, receiver);
    }

    @Override
    public @Nullable Connection insteadOf(Connection connection) {
        Connection chosen = choose();
        return chosen == connection || closed ? null : chosen;
    }

    private RpcException notConnected(PendingCall call) {
        String why = whyNotConnected();
        return RpcException.refusal(
                StatusCode.UNAVAILABLE,
                call + " was not sent: " + endpoint + " is not connected"
                        + (why.isEmpty() ? "" : ", " + why)
                        + (closed ? "; the client is closed" : "; reconnecting in the background"),
                Executed.NO);
    }

    /**
     * Returns the reason why there is no connection, for error messages. The reason that the connection itself gives is
     * preferred, because the connection can be closed before its event loop has notified this pool.
     */
    private String whyNotConnected() {
        for (int i = 0; i < current.length(); i++) {
            String reason = current.get(i).closeReason();
            if (!reason.isEmpty()) {
                return reason;
            }
        }
        return lastReason;
    }

    @Override
    public int relief(Connection crowded) {
        Connection chosen = choose();
        if (chosen == null || chosen == crowded || chosen.calls().free() <= 0) {
            extra.openOne();
            return 0;
        }
        return chosen.state() == State.READY ? chosen.calls().free() : 0;
    }

    /**
     * Returns the next ready connection, round-robin. Prefers a connection that can serve another call immediately. If
     * none is ready, returns a connection that is being opened, or null.
     */
    private @Nullable Connection choose() {
        int size = current.length();
        int first = size == 1 ? 0 : Math.floorMod(turn.getAndIncrement(), size);
        Connection connecting = null;
        Connection full = null;
        for (int i = 0; i < size; i++) {
            int place = (first + i) % size;
            Connection candidate = current.get(place);
            State state = candidate.state();
            if (state != State.READY && state != State.CONNECTING) {
                candidate = current.get(place); // another thread might have replaced the connection
                state = candidate.state();
            }
            if (state == State.READY) {
                if (candidate.calls().free() > 0) {
                    return candidate;
                }
                full = candidate;
            }
            if (state == State.CONNECTING && !begunByCalls.contains(candidate)) {
                connecting = candidate;
            }
        }
        Connection free = extra.free();
        return free != null ? free : full != null ? full : connecting;
    }

    @Override
    public void connectSoon() {
        if (!available && !isConnecting()) {
            attemptNow();
        }
    }

    @Override
    public synchronized long untilNextAttemptNanos() {
        return pauses.values().stream()
                .mapToLong(ReconnectPause::leftNanos)
                .min()
                .orElse(-1);
    }

    /** Starts a connection attempt, because a call found no connection. */
    private void attemptNow() {
        if (!closed && pace.isDue()) {
            beginAttempt();
        }
    }

    private synchronized void beginAttempt() {
        for (int i = 0; i < current.length(); i++) {
            Connection lost = current.get(i);
            if (pauses.containsKey(lost)) {
                if (pace.mayBegin()) {
                    replace(lost, true);
                }
                return;
            }
        }
    }

    @Override
    public synchronized void changed(Connection connection, State state) {
        lostWhileAnswering.removeIf(lost -> lost.inFlight() == 0);
        switch (state) {
            case READY -> {
                lastFailure = "";
                begunByCalls.remove(connection);
            }
            case DRAINING -> {
                lastFailure = "the server is shutting down";
                retire(connection);
            }
            case CLOSED -> lost(connection);
            default -> throw new IllegalStateException(state.name());
        }
        // A connection that reports DRAINING still has the state READY, so this connection is excluded.
        boolean ready = !closed && isAnyReady(state == State.DRAINING ? connection : null);
        if (ready && !available) {
            timesAvailable++;
        }
        available = ready;
    }

    @Override
    public void heardFirst(Connection connection) {
        // The field "heard" is never reset, because every replacement becomes ready only after the server has sent
        // bytes on it.
        heard = true;
    }

    @Override
    public boolean wasHeard() {
        return heard;
    }

    private boolean isAnyConnecting() {
        for (int i = 0; i < current.length(); i++) {
            Connection candidate = current.get(i);
            if (candidate.state() == State.CONNECTING && !begunByCalls.contains(candidate)) {
                return true;
            }
        }
        return false;
    }

    private boolean isAnyReady(@Nullable Connection except) {
        for (int i = 0; i < current.length(); i++) {
            Connection candidate = current.get(i);
            if (candidate != except && candidate.state() == State.READY) {
                return true;
            }
        }
        return false;
    }

    private void lost(Connection connection) {
        if (connection.inFlight() > 0) {
            lostWhileAnswering.add(connection);
        }
        if (retiring.remove(connection) || closed) {
            return;
        }
        lastReason = connection.closeReason();
        lastFailure = lastReason;
        if (begunByCalls.remove(connection)) {
            replaceAfter(backoff.sameMillis(), connection);
            return;
        }
        boolean wasHeard = connection.opening().wasHeard();
        long pauseMillis = wasHeard ? pauseAfterALoss(connection) : backoff.nextMillis();
        if (pauseMillis > 0 && backoff.isNew()) {
            LOG.debug("{} is not connected: {}; next attempt in {} ms", endpoint, lastFailure, pauseMillis);
        }
        replaceAfter(pauseMillis, connection);
    }

    /** Replaces a draining connection, which stays open until its last answer has arrived. */
    private void retire(Connection connection) {
        if (isCurrent(connection)) {
            retiring.add(connection);
            replaceAfter(pauseAfterALoss(connection), connection);
        }
    }

    private long pauseAfterALoss(Connection connection) {
        if (connection.wasOfUse()) {
            backoff.reset();
        }
        return backoff.nextMillisAfterALoss();
    }

    private void replaceAfter(long pauseMillis, Connection connection) {
        if (pauseMillis == 0) {
            replaceInTurn(connection);
            return;
        }
        pauses.put(
                connection,
                new ReconnectPause(
                        loops.group().schedule(() -> replaceInTurn(connection), pauseMillis, TimeUnit.MILLISECONDS)));
    }

    /** Replaces the connection when {@link ReconnectPace} permits another attempt, which can be immediately. */
    private synchronized void replaceInTurn(Connection connection) {
        if (!closed && isCurrent(connection)) {
            pauses.put(connection, ReconnectPause.OVER);
            reconnects.begin(() -> replaceOrTryAgain(connection), backoff.pauses());
        }
    }

    private boolean isCurrent(Connection connection) {
        for (int i = 0; i < current.length(); i++) {
            if (current.get(i) == connection) {
                return true;
            }
        }
        return false;
    }

    /** Returns false if the connection has been replaced already, or if this pool is closed. */
    private boolean replaceOrTryAgain(Connection connection) {
        try {
            return replace(connection);
        } catch (RuntimeException | Error e) {
            Thrown.log(e, shown -> LOG.error("The attempt to connect to {} failed", endpoint, shown));
            // after an error, another attempt is scheduled, because otherwise the pool would never reconnect to the
            // endpoint
            tryAgain(connection);
            return true;
        }
    }

    private synchronized void tryAgain(Connection connection) {
        replaceAfter(Math.max(1, backoff.nextMillis()), connection);
    }

    private boolean replace(Connection connection) {
        return replace(connection, false);
    }

    /** @param byCall whether the attempt was started by a call before the pause ended */
    private synchronized boolean replace(Connection connection, boolean byCall) {
        ReconnectPause pause = pauses.remove(connection);
        if (pause != null) {
            pause.cancel();
        }
        for (int i = 0; i < current.length() && !closed; i++) {
            if (current.get(i) == connection) {
                Connection fresh = new Connection(endpoint, settings, protocol, tls, this, true);
                if (byCall) {
                    begunByCalls.add(fresh);
                }
                current.set(i, fresh);
                fresh.connect(loops);
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean isHeardAfter(long nanos) {
        for (int i = 0; i < current.length(); i++) {
            if (current.get(i).keepAlive().isHeardAfter(nanos)) {
                return true;
            }
        }
        return extra.isAny(connection -> connection.keepAlive().isHeardAfter(nanos));
    }

    @Override
    public void probe() {
        for (int i = 0; i < current.length(); i++) {
            if (current.get(i).state() == State.READY) {
                current.get(i).keepAlive().pingOnce();
            }
        }
    }

    @Override
    public void forEachWaiting(Consumer<PendingCall> action) {
        for (int i = 0; i < current.length(); i++) {
            current.get(i).forEachWaiting(action);
        }
        extra.forEach(connection -> connection.forEachWaiting(action));
    }

    @Override
    public int inFlight() {
        return (int) sum(Connection::inFlight);
    }

    @Override
    public long queuedBytes() {
        return sum(connection -> connection.queue().queuedBytes());
    }

    @Override
    public long lateAnswers() {
        return sum(Connection::lateAnswers);
    }

    private synchronized long sum(ToLongFunction<Connection> value) {
        long sum = retiring.stream().mapToLong(value).sum() + extra.sum(value);
        for (int i = 0; i < current.length(); i++) {
            sum += value.applyAsLong(current.get(i));
        }
        return sum;
    }

    @Override
    public void close() {
        closeAll();
        whenClosed.accept(this);
    }

    private synchronized void closeAll() {
        closed = true;
        available = false;
        pauses.values().forEach(ReconnectPause::cancel);
        pauses.clear();
        for (int i = 0; i < current.length(); i++) {
            current.get(i).closeWithCalls(CLOSED);
        }
        extra.close(CLOSED);
        List.copyOf(retiring).forEach(connection -> connection.closeWithCalls(CLOSED));
        List.copyOf(lostWhileAnswering).forEach(connection -> connection.closeWithCalls(CLOSED));
    }

    @Override
    public String toString() {
        return endpoint.toString();
    }
}
