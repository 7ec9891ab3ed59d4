package tern.rpc.netty.dubbo;

import org.junit.jupiter.api.extension.RegisterExtension;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.TestedTransport;
import tern.rpc.transport.Tls;
import tern.rpc.transport.Tls.ClientAuth;
import tern.rpc.transport.TransportContractTest;

/** Runs the transport contract over TLS. Both sides have a certificate. */
class DubboTlsContractTest extends TransportContractTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("authority");
    private static final Tls OF_SERVER = Tls.named("server")
            .withKeys(AUTHORITY.issue("server", "127.0.0.1").keys())
            .withTrust(AUTHORITY.trust())
            .withClientAuth(ClientAuth.NEED);
    private static final Tls OF_CLIENT =
            Tls.named("client").withKeys(AUTHORITY.issue("client").keys()).withTrust(AUTHORITY.trust());

    private static final DubboProtocol PROTOCOL =
            new DubboProtocol(HessianSerializer.builder().build(), 0);

    @RegisterExtension
    static final ContractTransports TRANSPORTS = new ContractTransports(
            ServerTransportSettings.onPort(0).withTls(() -> OF_SERVER, false),
            PROTOCOL,
            ClientTransportSettings.named("contract").withTls(() -> OF_CLIENT),
            PROTOCOL);

    @Override
    protected TestedTransport transport() {
        return TRANSPORTS;
    }
}
