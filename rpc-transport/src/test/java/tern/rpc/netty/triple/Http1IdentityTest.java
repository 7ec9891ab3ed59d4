package tern.rpc.netty.triple;

import org.junit.jupiter.api.extension.RegisterExtension;
import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.transport.IdentityContractTest;
import tern.rpc.transport.TestedTransport;

class Http1IdentityTest extends IdentityContractTest {

    @RegisterExtension
    static final ContractTransports TRANSPORTS = HttpTransports.http1();

    @Override
    protected TestedTransport transport() {
        return TRANSPORTS;
    }
}
