package tern.rpc.netty;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.Connection.State;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;

/**
 * The connections to one endpoint, usually one, each with many calls at once. A lost one is replaced: at once the first
 * time, then after pauses that double, with full jitter. A draining one is replaced too and lives on until its last
 * answer. What takes another's place is ready when the server has been heard on it. Thread-safe.
 */
final class ConnectionPool implements ClientConnection, Connection.Owner {

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
    private final List<Connection> retiring = new ArrayList<>(); // guarded by this
    private final List<Connection> untold = new ArrayList<>(); // guarded by this; lost, but some answers are here
    private final ReconnectBackoff backoff; // guarded by this
    private volatile boolean available;
    private volatile boolean closed;
    private volatile String lastFailure = "";

    ConnectionPool(
            Endpoint endpoint,
            int size,
            ClientTransportSettings settings,
            ClientProtocol protocol,
            @Nullable TlsContext tls,
            EventLoops loops,
            Consumer<ClientConnection> whenClosed) {
        this.endpoint = endpoint;
        this.settings = settings;
        this.protocol = protocol;
        this.tls = tls;
        this.loops = loops;
        this.whenClosed = whenClosed;
        this.backoff = new ReconnectBackoff(settings);
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

    /** One that is ready and was not told of yet is as good as connecting. */
    @Override
    public boolean isConnecting() {
        return !available && (isAny(State.CONNECTING) || isAny(State.READY));
    }

    @Override
    public String lastFailure() {
        return lastFailure;
    }

    @Override
    public void send(PendingCall call) {
        Connection chosen = choose();
        if (chosen == null || closed) {
            call.fail(notConnected(call));
        } else {
            chosen.send(call);
        }
    }

    @Override
    public ClientStream open(PendingCall call, ClientStream.Receiver receiver) {
        Connection chosen = choose();
        if (chosen == null || closed) {
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
        return RpcException.refusal(
                StatusCode.UNAVAILABLE,
                call + " was not sent: " + endpoint + " is not connected"
                        + (lastFailure.isEmpty() ? "" : ", " + lastFailure)
                        + (closed ? "; the client is closed" : "; trying again in the background"),
                Executed.NO);
    }

    /** The next that is ready, or else connecting. */
    private @Nullable Connection choose() {
        int size = current.length();
        int first = size == 1 ? 0 : Math.floorMod(turn.getAndIncrement(), size);
        Connection connecting = null;
        for (int i = 0; i < size; i++) {
            int place = (first + i) % size;
            Connection candidate = current.get(place);
            State state = candidate.state();
            if (state != State.READY && state != State.CONNECTING) {
                candidate = current.get(place); // it may have been replaced meanwhile
                state = candidate.state();
            }
            if (state == State.READY) {
                return candidate;
            }
            if (state == State.CONNECTING) {
                connecting = candidate;
            }
        }
        return connecting;
    }

    @Override
    public synchronized void changed(Connection connection, State state) {
        untold.removeIf(lost -> lost.inFlight() == 0);
        switch (state) {
            case READY -> lastFailure = "";
            case DRAINING -> {
                lastFailure = "the server is going away";
                if (replace(connection)) {
                    retiring.add(connection);
                }
            }
            case CLOSED -> lost(connection);
            default -> throw new IllegalStateException(state.name());
        }
        available = !closed && isAny(State.READY);
    }

    private boolean isAny(State state) {
        for (int i = 0; i < current.length(); i++) {
            if (current.get(i).state() == state) {
                return true;
            }
        }
        return false;
    }

    private void lost(Connection connection) {
        if (connection.inFlight() > 0) {
            untold.add(connection);
        }
        if (retiring.remove(connection) || closed) {
            return;
        }
        lastFailure = connection.closeReason();
        if (connection.wasHeard()) {
            backoff.reset();
        }
        long pauseMillis = backoff.nextMillis();
        if (pauseMillis == 0) {
            replace(connection);
            return;
        }
        if (backoff.isNew()) {
            LOG.info("{} is not connected: {}; next attempt in {} ms", endpoint, lastFailure, pauseMillis);
        }
        loops.group().schedule(() -> replace(connection), pauseMillis, TimeUnit.MILLISECONDS);
    }

    private synchronized boolean replace(Connection connection) {
        for (int i = 0; i < current.length() && !closed; i++) {
            if (current.get(i) == connection) {
                Connection fresh = new Connection(endpoint, settings, protocol, tls, this, true);
                current.set(i, fresh);
                fresh.connect(loops);
                return true;
            }
        }
        return false;
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
        long sum = retiring.stream().mapToLong(value).sum();
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
        for (int i = 0; i < current.length(); i++) {
            current.get(i).closeWithCalls(CLOSED);
        }
        List.copyOf(retiring).forEach(connection -> connection.closeWithCalls(CLOSED));
        List.copyOf(untold).forEach(connection -> connection.closeWithCalls(CLOSED));
    }

    @Override
    public String toString() {
        return endpoint.toString();
    }
}
