package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;

class InMemoryStreamContractTest extends StreamContractTest {

    private final InMemoryTransports memory = new InMemoryTransports();

    @Override
    protected TestedTransport transport() {
        return memory;
    }

    @Override
    protected void everythingIsClosed() {
        InMemoryTransport used = memory.last();
        await("every message is read or discarded", () -> used.queuedBytes() == 0);
        assertThat(used.inFlight()).isZero();
    }
}
