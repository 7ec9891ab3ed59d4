package tern.rpc.transport;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.hessian.HessianSerializer;

class InMemoryTransportContractTest extends TransportContractTest {

    private @Nullable InMemoryTransport transport;

    @Override
    protected ServerTransport newServerTransport() {
        transport = new InMemoryTransport(HessianSerializer.builder().build());
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
