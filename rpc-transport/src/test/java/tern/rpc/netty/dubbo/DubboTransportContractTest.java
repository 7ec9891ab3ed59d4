package tern.rpc.netty.dubbo;

import org.junit.jupiter.api.extension.RegisterExtension;
import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.TestedTransport;
import tern.rpc.transport.TransportContractTest;

class DubboTransportContractTest extends TransportContractTest {

    private static final DubboProtocol PROTOCOL =
            new DubboProtocol(HessianSerializer.builder().build(), 0);

    @RegisterExtension
    static final ContractTransports TRANSPORTS = new ContractTransports(PROTOCOL, PROTOCOL);

    @Override
    protected TestedTransport transport() {
        return TRANSPORTS;
    }
}
