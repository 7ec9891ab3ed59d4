package tern.rpc.transport;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.JdkSerializer;

/** Runs contract tests over the in-memory transport, which is both a client transport and a server transport. */
final class InMemoryTransports implements TestedTransport {

    private @Nullable InMemoryTransport last;

    @Override
    public ServerTransport newServer() {
        last = new InMemoryTransport(new JdkSerializer());
        return last;
    }

    @Override
    public ClientTransport newClient() {
        return last();
    }

    @Override
    public Endpoint endpoint() {
        return new Endpoint("local", 0);
    }

    /** Returns the most recently created transport. */
    InMemoryTransport last() {
        return Objects.requireNonNull(last);
    }
}
