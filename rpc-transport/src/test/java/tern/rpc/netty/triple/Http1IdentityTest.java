package tern.rpc.netty.triple;

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
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.IdentityContractTest;
import tern.rpc.transport.ServerTransport;
import tools.jackson.databind.json.JsonMapper;

class Http1IdentityTest extends IdentityContractTest {

    private static final EventLoops LOOPS = EventLoops.start(2);

    private final TripleCodecs codecs = new TripleCodecs(
            HessianSerializer.builder().build(),
            new JsonCodec(JsonMapper.builder().build()),
            0);
    private @Nullable ServerTransport server;

    @AfterAll
    static void stop() {
        LOOPS.close();
    }

    @Override
    protected ServerTransport newServerTransport() {
        server = ResourceLedger.watch(new NettyServerTransport(
                ServerTransportSettings.onPort(0), LOOPS, List.of(new Http1Protocol(codecs, HttpSettings.defaults()))));
        return server;
    }

    @Override
    protected ClientTransport newClientTransport() {
        return new NettyClientTransport(
                ClientTransportSettings.named("contract"), LOOPS, new Http1ClientProtocol(codecs));
    }

    @Override
    protected Endpoint endpoint() {
        return new Endpoint("127.0.0.1", Objects.requireNonNull(server).port());
    }
}
