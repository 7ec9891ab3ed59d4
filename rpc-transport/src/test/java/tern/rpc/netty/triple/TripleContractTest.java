package tern.rpc.netty.triple;

import org.junit.jupiter.api.extension.RegisterExtension;
import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.transport.TestedTransport;
import tern.rpc.transport.TransportContractTest;

class TripleContractTest extends TransportContractTest {

    @RegisterExtension
    static final ContractTransports TRANSPORTS = HttpTransports.http2();

    @Override
    protected TestedTransport transport() {
        return TRANSPORTS;
    }
}
