package tern.rpc.netty.triple;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.Tls;

/** A client transport that makes each opened connection available to the test. */
record ShownTransport(ClientTransport actual, Consumer<ClientConnection> opened) implements ClientTransport {

    @Override
    public String protocol() {
        return actual.protocol();
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        actual.prepare(service);
    }

    @Override
    public ClientConnection connect(Endpoint endpoint, int connections, @Nullable Supplier<Tls> tls) {
        ClientConnection connection = actual.connect(endpoint, connections, tls);
        opened.accept(connection);
        return connection;
    }

    @Override
    public void close() {
        actual.close();
    }
}
