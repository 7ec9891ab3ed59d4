package tern.rpc.netty.dubbo;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.ServerTransport;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.Tls;
import tern.rpc.transport.Tls.ClientAuth;
import tern.rpc.transport.TransportContractTest;

/** Runs the transport contract over TLS. Both sides have a certificate. */
class DubboTlsContractTest extends TransportContractTest {

    private static final EventLoops LOOPS = EventLoops.start(2);
    private static final TestAuthority AUTHORITY = new TestAuthority("authority");
    private static final Tls OF_SERVER = Tls.named("server")
            .withKeys(AUTHORITY.issue("server", "127.0.0.1").keys())
            .withTrust(AUTHORITY.trust())
            .withClientAuth(ClientAuth.NEED);
    private static final Tls OF_CLIENT =
            Tls.named("client").withKeys(AUTHORITY.issue("client").keys()).withTrust(AUTHORITY.trust());

    private final DubboProtocol protocol =
            new DubboProtocol(HessianSerializer.builder().build(), 0);
    private @Nullable ServerTransport server;

    @AfterAll
    static void stop() {
        LOOPS.close();
    }

    @Override
    protected ServerTransport newServerTransport() {
        server = ResourceLedger.watch(new NettyServerTransport(
                ServerTransportSettings.onPort(0).withTls(() -> OF_SERVER, false), LOOPS, List.of(protocol)));
        return server;
    }

    @Override
    protected ClientTransport newClientTransport() {
        return new NettyClientTransport(
                ClientTransportSettings.named("contract").withTls(() -> OF_CLIENT), LOOPS, protocol);
    }

    @Override
    protected Endpoint endpoint() {
        return new Endpoint("127.0.0.1", Objects.requireNonNull(server).port());
    }
}
