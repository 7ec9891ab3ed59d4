package tern.rpc.netty.triple;

import org.junit.jupiter.api.extension.RegisterExtension;
import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.transport.IdentityContractTest;
import tern.rpc.transport.TestedTransport;

class TripleIdentityTest extends IdentityContractTest {

    @RegisterExtension
    static final ContractTransports TRANSPORTS = HttpTransports.http2();

    @Override
    protected TestedTransport transport() {
        return TRANSPORTS;
    }

    @Override
    protected boolean hasStreams() {
        return true;
    }
}
