package tern.rpc.netty.triple;

import org.junit.jupiter.api.AfterAll;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.IdentityContractTest;
import tern.rpc.transport.ServerTransport;
import tools.jackson.databind.json.JsonMapper;

class Http1IdentityTest extends IdentityContractTest {

    private static final TripleCodecs CODECS = new TripleCodecs(
            HessianSerializer.builder().build(),
            new JsonCodec(JsonMapper.builder().build()),
            0);
    private static final ContractTransports TRANSPORTS =
            new ContractTransports(new Http1Protocol(CODECS, HttpSettings.defaults()), new Http1ClientProtocol(CODECS));

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
