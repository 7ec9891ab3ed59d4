package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.JdkSerializer;

class InMemoryStreamContractTest extends StreamContractTest {

    private @Nullable InMemoryTransport transport;

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

    @Override
    protected void everythingIsClosed() {
        InMemoryTransport used = Objects.requireNonNull(transport);
        await("every message is read or discarded", () -> used.queuedBytes() == 0);
        assertThat(used.inFlight()).isZero();
    }
}
