package tern.rpc.interop;

import java.time.Duration;
import java.util.List;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.serialization.hessian.HessianSerializer;

/** A client that calls one server, with its own connection. */
final class InteropConnection implements AutoCloseable {

    private final Endpoint server;
    private final EventLoops loops = EventLoops.start(1);
    private final RpcClient client;

    InteropConnection(Endpoint server) {
        this.server = server;
        TripleCodecs codecs = new TripleCodecs(HessianSerializer.builder().build(), null, 0);
        client = RpcClient.builder()
                .transport(new NettyClientTransport(
                        ClientTransportSettings.named("interop"), loops, new TripleClientProtocol(codecs)))
                .timeout(Duration.ofSeconds(20))
                .build();
    }

    <T> T refer(Class<T> service) {
        return client.refer(ServiceReference.to(service, new StaticEndpoints(List.of(server)))
                .protocol(TripleClientProtocol.NAME)
                .build());
    }

    @Override
    public void close() {
        client.close();
        loops.close();
    }
}
