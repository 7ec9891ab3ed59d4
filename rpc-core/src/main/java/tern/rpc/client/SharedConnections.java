package tern.rpc.client;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.Tls;

/**
 * The connections of one transport with the same keys and trusted certificates. All sharing references use one
 * connection to each endpoint. It is closed when the last reference has returned it and its calls have ended.
 * Thread-safe.
 */
final class SharedConnections {

    /** The time that calls may take to end on a connection that no reference uses any more. */
    private static final int LONGEST_END_SECONDS = 30;

    private static final class Shared {
        final ClientConnection connection;
        int users = 1;

        Shared(ClientConnection connection) {
            this.connection = connection;
        }
    }

    private final ClientTransport transport;
    private final @Nullable Supplier<Tls> tls;
    private final ScheduledExecutorService timer;
    private final Map<Endpoint, Shared> byEndpoint = new HashMap<>(); // guarded by this

    SharedConnections(ClientTransport transport, @Nullable Supplier<Tls> tls, ScheduledExecutorService timer) {
        this.transport = transport;
        this.tls = tls;
        this.timer = timer;
    }

    synchronized ClientConnection share(Endpoint endpoint) {
        Shared shared = byEndpoint.get(endpoint);
        if (shared != null) {
            shared.users++;
            return shared.connection;
        }
        ClientConnection connection = transport.connect(endpoint, 1, tls);
        byEndpoint.put(endpoint, new Shared(connection));
        return connection;
    }

    synchronized void giveBack(ClientConnection connection) {
        Shared shared = byEndpoint.get(connection.endpoint());
        if (shared != null && shared.connection == connection && --shared.users > 0) {
            return;
        }
        byEndpoint.remove(connection.endpoint());
        closeWhenQuiet(connection, LONGEST_END_SECONDS);
    }

    private void closeWhenQuiet(ClientConnection connection, int secondsLeft) {
        if (connection.inFlight() == 0 || secondsLeft == 0 || timer.isShutdown()) {
            connection.close();
        } else {
            timer.schedule(() -> closeWhenQuiet(connection, secondsLeft - 1), 1, TimeUnit.SECONDS);
        }
    }

    /** Closes a connection of a reference with own sockets. */
    void closeOwn(ClientConnection connection) {
        closeWhenQuiet(connection, LONGEST_END_SECONDS);
    }
}
