package tern.rpc.transport;

class InMemoryIdentityTest extends IdentityContractTest {

    private final InMemoryTransports memory = new InMemoryTransports();

    @Override
    protected TestedTransport transport() {
        return memory;
    }

    @Override
    protected boolean hasStreams() {
        return true;
    }
}
