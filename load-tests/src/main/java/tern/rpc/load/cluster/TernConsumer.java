package tern.rpc.load.cluster;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import tern.rpc.ServiceKey;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.zookeeper.ZooKeeperRegistry;
import tern.rpc.serialization.hessian.HessianSerializer;

/** A Tern client that reports each list of providers to the parent process. */
final class TernConsumer implements ConsumerClient {

    private final EventLoops loops = EventLoops.start(1);
    private final Registry registry;
    private final RpcClient client;
    private final NodeService service;

    /** @param registry the address of the ZooKeeper server, such as {@code zookeeper://127.0.0.1:2181} */
    TernConsumer(String registry) {
        DubboProtocol protocol = new DubboProtocol(HessianSerializer.builder().build(), 0);
        this.registry = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT).open(RegistryUrl.parse(registry));
        this.client = RpcClient.builder()
                .timeout(Duration.ofSeconds(1))
                .transport(new NettyClientTransport(ClientTransportSettings.named("scale"), loops, protocol))
                .build();
        Subscription subscription = new Subscription(
                new ServiceKey(NodeService.class.getName(), "", ""),
                "dubbo",
                List.of(ManyInstances.APPLICATION),
                Subscription.Level.APPLICATION);
        EndpointSource source = new Reported(this.registry.source(subscription));
        this.service = client.refer(
                ServiceReference.to(NodeService.class, source).protocol("dubbo").build());
    }

    @Override
    public NodeService service() {
        return service;
    }

    @Override
    public void close() {
        registry.close();
        client.close();
        loops.close();
    }

    /** Wraps a source of providers. Reports each list to the parent process, and then passes the list to the client. */
    private record Reported(EndpointSource source) implements EndpointSource {

        @Override
        public void start(Consumer<EndpointSnapshot> listener) {
            source.start(snapshot -> {
                // The parent process compares this time with its own, because System.nanoTime() has the same origin in
                // all processes on one Linux machine.
                RegistryConsumer.say("list %d %d", snapshot.instances().size(), System.nanoTime());
                listener.accept(snapshot);
            });
        }

        @Override
        public void refresh() {
            source.refresh();
        }

        @Override
        public String toString() {
            return source.toString();
        }

        @Override
        public void close() {
            source.close();
        }
    }
}
