package tern.rpc.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.IdleConnection;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.Tls;

/** A transport whose connections handle calls as the test specifies. By default, calls get no answer. */
final class FakeNetwork implements ClientTransport {

    static final String PROTOCOL = "fake";

    /** All calls that reached a connection, in order of arrival. */
    final List<Sent> sent = new ArrayList<>();

    /** Defines a connection's reaction to each call. */
    BiConsumer<Endpoint, PendingCall> taking = (endpoint, call) -> {};

    private final Map<Endpoint, Connection> connections = new ConcurrentHashMap<>();

    /** A call, and the provider that it was sent to. */
    record Sent(Endpoint endpoint, PendingCall call) {}

    final class Connection extends IdleConnection {

        boolean heard = true; // whether the provider has sent bytes on this connection
        int probes;

        Connection(Endpoint endpoint) {
            super(endpoint);
        }

        @Override
        public boolean wasHeard() {
            return heard;
        }

        @Override
        public void probe() {
            probes++;
        }

        @Override
        public void send(PendingCall call) {
            synchronized (sent) {
                sent.add(new Sent(endpoint, call));
            }
            taking.accept(endpoint, call);
        }
    }

    Connection at(Endpoint endpoint) {
        return connections.computeIfAbsent(endpoint, Connection::new);
    }

    @Override
    public String protocol() {
        return PROTOCOL;
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        // This transport needs no preparation.
    }

    @Override
    public ClientConnection connect(Endpoint endpoint, int sockets, @Nullable Supplier<Tls> tls) {
        return at(endpoint);
    }

    @Override
    public void close() {
        // This transport opens no sockets.
    }
}
