package tern.rpc.netty;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.netty.Connection.State;

/**
 * Additional connections to one endpoint. The server limits the number of concurrent calls on each connection, and
 * these connections serve the calls above the limit of the {@link ConnectionPool}. For example, many proxies limit the
 * number of HTTP/2 streams per connection. Without additional connections, calls above the limit would have to wait
 * until other streams are closed. A connection is closed after it has been idle for the heartbeat interval. A lost
 * connection is not replaced. Thread-safe.
 */
final class ExtraConnections implements ConnectionOwner {

    /** The maximum number of additional connections. */
    static final int MAX = 3;

    private final ConnectionOwner pool;
    private final Function<ConnectionOwner, Connection> maker;
    private final ClientTransportSettings settings;
    private final EventLoops loops;
    private final AttemptPace pace;
    // the connections that are being opened or that accept calls; changed only while holding the lock on this object
    private final List<Connection> open = new CopyOnWriteArrayList<>();
    // the connections that accept no more calls and are not closed yet
    private final List<Connection> leaving = new CopyOnWriteArrayList<>();
    private boolean closed; // guarded by this

    /**
     * @param pool decides which connection takes over calls from a connection of this object
     */
    ExtraConnections(
            ConnectionOwner pool,
            Function<ConnectionOwner, Connection> maker,
            ClientTransportSettings settings,
            EventLoops loops,
            NanoClock clock) {
        this.pool = pool;
        this.maker = maker;
        this.settings = settings;
        this.loops = loops;
        this.pace = new AttemptPace(clock);
    }

    /**
     * Opens a connection. Does nothing if a connection is being opened, the maximum number of connections is open, or
     * the last attempt started a short time ago.
     */
    synchronized void openOne() {
        boolean isConnecting = open.stream().anyMatch(connection -> connection.state() == State.CONNECTING);
        if (closed || isConnecting || open.size() + leaving.size() >= MAX || !pace.mayBegin()) {
            return;
        }
        Connection made = maker.apply(this);
        open.add(made);
        made.connect(loops);
    }

    /** Returns a connection that can serve another call immediately; null if there is none. */
    @Nullable
    Connection free() {
        for (Connection connection : open) {
            if (connection.state() == State.READY && connection.calls().free() > 0) {
                return connection;
            }
        }
        return null;
    }

    @Override
    public void changed(Connection connection, State state) {
        switch (state) {
            case READY -> closeIfIdleLater(connection);
            case DRAINING -> leave(connection);
            case CLOSED -> forget(connection);
            default -> throw new IllegalStateException(state.name());
        }
    }

    @Override
    public int relief(Connection crowded) {
        return pool.relief(crowded);
    }

    @Override
    public @Nullable Connection insteadOf(Connection connection) {
        return pool.insteadOf(connection);
    }

    private void closeIfIdleLater(Connection connection) {
        loops.group()
                .schedule(() -> closeIfIdle(connection), settings.heartbeat().toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Closes a connection that is idle. Before it is closed, the connection takes no new calls for a heartbeat
     * interval, because another thread might just have chosen it for a call.
     */
    private void closeIfIdle(Connection connection) {
        boolean idle = connection.calls().running() == 0;
        if (idle && leaving.contains(connection)) {
            connection.close(
                    "it was not needed for " + settings.heartbeat().toMillis() + " ms (set by rpc.client.heartbeat)");
        } else if (connection.state() != State.CLOSED) {
            if (idle) {
                leave(connection);
            }
            closeIfIdleLater(connection);
        }
    }

    private synchronized void leave(Connection connection) {
        if (open.remove(connection)) {
            leaving.add(connection);
        }
    }

    private synchronized void forget(Connection connection) {
        open.remove(connection);
        leaving.remove(connection);
    }

    boolean isAny(Predicate<Connection> condition) {
        return open.stream().anyMatch(condition) || leaving.stream().anyMatch(condition);
    }

    void forEach(Consumer<Connection> action) {
        open.forEach(action);
        leaving.forEach(action);
    }

    long sum(ToLongFunction<Connection> value) {
        return open.stream().mapToLong(value).sum()
                + leaving.stream().mapToLong(value).sum();
    }

    /** Closes all connections. No connection is opened afterwards. */
    synchronized void close(String reason) {
        closed = true;
        forEach(connection -> connection.closeWithCalls(reason));
    }
}
