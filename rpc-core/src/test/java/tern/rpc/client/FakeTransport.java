package tern.rpc.client;

import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.Tls;

/** A transport that opens no sockets. A test supplies the connection to each provider. */
record FakeTransport(Function<Endpoint, ? extends ClientConnection> connections) implements ClientTransport {

    static final String PROTOCOL = "fake";

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
        return connections.apply(endpoint);
    }

    @Override
    public void close() {
        // This transport opens no sockets.
    }
}
