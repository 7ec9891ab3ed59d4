package tern.rpc.netty.triple;

import org.junit.jupiter.api.AfterAll;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.ServerTransport;
import tern.rpc.transport.TransportContractTest;

class TripleContractTest extends TransportContractTest {

    private static final TripleCodecs CODECS =
            new TripleCodecs(HessianSerializer.builder().build(), null, 0);
    private static final ContractTransports TRANSPORTS =
            new ContractTransports(new TripleProtocol(CODECS), new TripleClientProtocol(CODECS));

    @AfterAll
    static void stop() {
        TRANSPORTS.close();
    }

    @Override
    protected ServerTransport newServerTransport() {
        return TRANSPORTS.newServer();
    }

    @Override
    protected ClientTransport newClientTransport() {
        return TRANSPORTS.newClient();
    }

    @Override
    protected Endpoint endpoint() {
        return TRANSPORTS.endpoint();
    }
}
