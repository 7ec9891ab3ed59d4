package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.JdkSerializer;

class InMemoryTransportContractTest extends TransportContractTest {

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
        return new Endpoint("local", 0);
    }

    @Test
    void methodLearnsThatItsCallerWasInterrupted() throws Exception {
        ContractService proxy = proxy();
        AtomicReference<Thread> caller = new AtomicReference<>();
        Future<RpcException> failure = inBackground(() -> {
            caller.set(Thread.currentThread());
            return catchThrowableOfType(RpcException.class, () -> proxy.blocks("x"));
        });
        assertThat(service.blocked.poll(20, TimeUnit.SECONDS)).isEqualTo("x");

        caller.get().interrupt();

        assertThat(failure.get(20, TimeUnit.SECONDS).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(service.cancelled.poll(20, TimeUnit.SECONDS)).isEqualTo("x");
        assertThat(proxy.echo("still works")).isEqualTo("still works");
    }
}
