package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

class InMemoryTransportContractTest extends TransportContractTest {

    private final InMemoryTransports memory = new InMemoryTransports();

    @Override
    protected TestedTransport transport() {
        return memory;
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
