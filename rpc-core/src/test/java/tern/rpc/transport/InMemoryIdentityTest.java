package tern.rpc.transport;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.JdkSerializer;

class InMemoryIdentityTest extends IdentityContractTest {

    private @Nullable InMemoryTransport transport;

    @Override
    protected boolean hasStreams() {
        return true;
    }

    @Override
    protected ServerTransport newServerTransport() {
        transport = new InMemoryTransport(new JdkSerializer());
        return transport;
    }

    @Override
    protected ClientTransport newClientTransport() {
        return Objects.requireNonNull(transport);
    }

    @Override
    protected Endpoint endpoint() {
        return new Endpoint("memory", 0);
    }
}
