package tern.rpc.load.peer;

import java.util.List;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointResolver;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.sample.api.EchoService;
import tern.sample.api.UserService;

/** Tern over the dubbo protocol, with its defaults. */
final class TernPeer implements Peer {

    private final DubboProtocol protocol =
            new DubboProtocol(HessianSerializer.builder().build(), 0);

    @Override
    public void serve(int port, UserService users, EchoService echo) {
        RpcServer.builder(new NettyServerTransport(
                        ServerTransportSettings.onPort(port), EventLoops.start(0), List.of(protocol)))
                .export(ServiceExport.of(UserService.class, users))
                .export(ServiceExport.of(EchoService.class, echo))
                .build()
                .start();
    }

    @Override
    public Services connect(int port) {
        RpcClient client = RpcClient.builder()
                .transport(
                        new NettyClientTransport(ClientTransportSettings.named("load"), EventLoops.start(0), protocol))
                .build();
        EndpointResolver address = new StaticEndpoints(List.of(new Endpoint("127.0.0.1", port)));
        return new Services(
                client.refer(ServiceReference.to(UserService.class, address)
                        .check(true)
                        .build()),
                client.refer(ServiceReference.to(EchoService.class, address)
                        .check(true)
                        .build()));
    }
}
