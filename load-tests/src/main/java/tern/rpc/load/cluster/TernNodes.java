package tern.rpc.load.cluster;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.cluster.Policies;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.FixedLimit;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Nodes and clients that use Tern over the dubbo protocol. As in the other frameworks, the servers do not limit the
 * number of concurrent calls.
 */
final class TernNodes implements Framework {

    private static final int CALLS = 100_000;

    private final DubboProtocol protocol =
            new DubboProtocol(HessianSerializer.builder().build(), 0);
    private final EventLoops loops = EventLoops.start(2);
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final int idempotentPercent;

    /** @param idempotentPercent the percentage of calls to the idempotent method */
    TernNodes(int idempotentPercent) {
        this.idempotentPercent = idempotentPercent;
    }

    @Override
    public void serve(Station station, int port) {
        NodeService service =
                new StationService(station, () -> new RpcException(StatusCode.UNAVAILABLE, "the node is down"));
        RpcServer server = RpcServer.builder(
                        new NettyServerTransport(ServerTransportSettings.onPort(port), loops, List.of(protocol)))
                .export(ServiceExport.of(NodeService.class, service))
                .limit(() -> new FixedLimit(CALLS))
                .build();
        opened.push(server);
        server.start();
    }

    @Override
    public Client connect(List<InetSocketAddress> nodes, String policy) {
        RpcClient client = RpcClient.builder()
                .timeout(Duration.ofMillis(TIMEOUT_MILLIS))
                .transport(new NettyClientTransport(ClientTransportSettings.named("nodes"), loops, protocol))
                .build();
        opened.push(client);
        List<Endpoint> addresses = nodes.stream()
                .map(node -> new Endpoint(node.getHostString(), node.getPort()))
                .toList();
        NodeService service = client.refer(ServiceReference.to(NodeService.class, new StaticEndpoints(addresses))
                .cluster(ClusterSettings.DEFAULT.withPolicy(Policies.named(policy)))
                .build());
        return (number, end) -> {
            boolean isIdempotent = number % 100 < idempotentPercent;
            (isIdempotent ? service.read(number) : service.work(number))
                    .whenComplete((node, failure) -> end.accept(failure));
        };
    }

    @Override
    public void close() {
        Closing.all(opened);
        loops.close();
    }
}
